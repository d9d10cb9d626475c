// The service cannot start for a reason that its operator can mend; the message says what to change.
export class GatewayStartError extends Error {
  override readonly name = 'GatewayStartError';
}
