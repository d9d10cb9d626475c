// A host that cannot listen, in one sentence: libp2p tells it with the stack of every listener.

/** `address` and why, and which setting changes it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program, or by another host of this machine',
  EACCES: 'needs a privilege that this process has not got',
  EADDRNOTAVAIL: 'is no address of this machine',
};

/** What the start of a host failed with, as ListenError where that is what it was. */
export function listenErrorFrom(cause: unknown): unknown {
  const message = cause instanceof Error ? cause.message : '';
  const [, code = '', address] = /listen (E[A-Z]+): .*?(\S+:\d+)$/m.exec(message) ?? [];
  const reason = REASONS[code];
  if (address === undefined || reason === undefined) return cause;
  return new ListenError(`the address ${address} ${reason}: choose where to listen with STRATA_P2P_LISTEN`, { cause });
}
