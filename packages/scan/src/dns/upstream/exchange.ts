// One query at one upstream: where it goes, how it ends, and how it is stopped.

export interface Upstream {
  readonly address: string;
  readonly port: number;
  /** All queries over kept TCP connections (RFC 7766) in place of datagrams. */
  readonly transport?: 'tcp';
}

/** For messages: `192.0.2.1:53`, `[2001:db8::1]:53`, `tcp://192.0.2.1:53`. */
export function labelOf({ address, port, transport }: Upstream): string {
  const label = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  return transport === undefined ? label : `${transport}://${label}`;
}

/**
 * The outcome of one query to one upstream. `strays` counts answers with our id to other questions; `hasAnswered`: the connection
 * ended after answers to other queries.
 */
export type Exchange =
  | { readonly kind: 'answer'; readonly bytes: Buffer }
  | { readonly kind: 'timeout'; readonly strays: number }
  | { readonly kind: 'unreachable'; readonly code: string; readonly hasAnswered?: boolean }
  | { readonly kind: 'garbled'; readonly reason: string }
  | { readonly kind: 'stopped' };

/** Stops work that no caller waits for. Cheaper than an AbortSignal, which would be needed for each question. */
export class StopSwitch {
  isStopped = false;
  /** The work in progress. */
  work: { stop(): void } | undefined;

  stop(): void {
    this.isStopped = true;
    this.work?.stop();
  }
}

/** A socket with many concurrent queries. */
export interface Channel extends AsyncDisposable {
  /** Queries without an outcome. */
  readonly waiting: number;
  /** Sends the query with a new id. Always settles. */
  ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange>;
}
