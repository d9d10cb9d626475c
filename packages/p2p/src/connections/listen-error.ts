// A readable error for a host that cannot listen: libp2p reports it with the stack of every listener.

/** Contains `address`, the reason, and the setting to change. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program, or by another host on this machine',
  EACCES: 'needs a privilege that this process does not have',
  EADDRNOTAVAIL: 'is not an address of this machine',
};

/** Converts a startup failure to a ListenError where it is one. */
export function listenErrorFrom(cause: unknown): unknown {
  const message = cause instanceof Error ? cause.message : '';
  const [, code = '', address] = /listen (E[A-Z]+): .*?(\S+:\d+)$/m.exec(message) ?? [];
  const reason = REASONS[code];
  if (address === undefined || reason === undefined) return cause;
  return new ListenError(`the address ${address} ${reason}: set another one with STRATA_P2P_LISTEN`, { cause });
}
