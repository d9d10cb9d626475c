// The most recent audits, for the network report.

export interface AuditRecord {
  readonly atMs: number;
  readonly kind: /** The audit of an answer. */
    | 'answer'
    /** The challenge of a verifier. */
    | 'challenge';
  /** The audited worker or the challenged verifier. */
  readonly peer: string;
  readonly modelSha256: string;
  /** The number of checked tokens. */
  readonly tokens: number;
  /** Peers that scored it; empty if it was our own engine or nothing was scored. */
  readonly verifiers: readonly string[];
  readonly outcome: 'clean' | 'deviating' | 'proof' | 'unconfirmed' | 'disputed' | 'unverified' | 'passed' | 'failed';
  /** 0 to 1; undefined: not scored. */
  readonly deviation: number | undefined;
}

const MAX_RECORDS = 50;

export class AuditLog {
  readonly #records: AuditRecord[] = [];

  /** Newest first. */
  list(): readonly AuditRecord[] {
    return this.#records.toReversed();
  }

  add(record: AuditRecord): void {
    this.#records.push(record);
    if (this.#records.length > MAX_RECORDS) this.#records.shift();
  }
}
