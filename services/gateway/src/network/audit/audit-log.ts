// What the last audits found, for whoever asks about the network.

export interface AuditRecord {
  readonly atMs: number;
  readonly kind: /** Of an answer. */
    | 'answer'
    /** Of a verifier. */
    | 'challenge';
  /** Whom it was about. */
  readonly peer: string;
  readonly modelSha256: string;
  /** Tokens that were checked. */
  readonly tokens: number;
  /** Peers that scored it; empty: our own engine, or nobody. */
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
