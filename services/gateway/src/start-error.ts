// The service cannot start for a reason that its operator can mend; the message says what to change.
export class GatewayStartError extends Error {
  override readonly name = 'GatewayStartError';
}

/** Errors of the host whose message says what to change. */
const HOST_ERRORS: ReadonlySet<string> = new Set(['JoinError', 'JoinTokenError', 'KeyFileError', 'NetworkKeyError']);

/** What an operator is to change so that the network can be joined, in one sentence. */
export function networkStartError(cause: Error, listen: readonly string[]): GatewayStartError {
  const [why = ''] = cause.message.split('\n');
  const begun = 'the network cannot be joined';
  // The host tells of all addresses that it could not listen at, each with where it was in our code.
  const used = /(\/\S+): Error: listen EADDRINUSE/.exec(cause.message)?.[1];
  if (used !== undefined || /in use/.test(why))
    return new GatewayStartError(
      `${begun}: the port of ${used ?? listen.join(' ')} is in use, as it is when another gateway runs on this machine; choose others with STRATA_P2P_LISTEN, and for a second gateway also with STRATA_INFERENCE_PORT and STRATA_DATA`,
      { cause },
    );
  if (HOST_ERRORS.has(cause.name)) return new GatewayStartError(`${begun}: ${why}`, { cause });
  const problem = /: Error: (listen \w+[^\n]*)/.exec(cause.message)?.[1] ?? why;
  return new GatewayStartError(
    `${begun} at ${listen.join(' ')}: ${problem}; choose other addresses with STRATA_P2P_LISTEN`,
    { cause },
  );
}
