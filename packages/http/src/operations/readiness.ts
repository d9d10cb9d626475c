// Readiness of the service: started, not stopping, and its dependencies answer. Health requires less: a service without
// its database is alive, and a restart would not help.

/** A failed check, with a message that may be public. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/**
 * Rejects with NotReady while the ledger cannot issue receipts: no response is sent without one, so balancers should
 * route elsewhere.
 */
export async function canSign(ledger: { problem(): string | undefined }): Promise<void> {
  const problem = ledger.problem();
  if (problem !== undefined) throw new NotReady(problem);
}

export interface ReadinessReport {
  readonly status: 200 | 503;
  readonly body: Readonly<Record<string, unknown>> & { readonly status: string };
}

interface ReadinessOptions {
  /** A slower check counts as failed. */
  readonly checkMs?: number;
  /** Results are cached for this time. */
  readonly keepMs?: number;
}

type State = 'starting' | 'ready' | 'stopping';

export class Readiness {
  readonly #checks: Map<string, () => Promise<unknown>>;
  readonly #checkMs: number;
  readonly #keepMs: number;
  readonly #facts: (() => Readonly<Record<string, unknown>>)[] = [];
  #state: State = 'starting';
  #found: Promise<ReadonlyMap<string, string>> | undefined;
  #foundAt = Number.NEGATIVE_INFINITY;

  /** Each check rejects while its dependency is not available. */
  constructor(
    checks: Readonly<Record<string, () => Promise<unknown>>> = {},
    { checkMs = 2_000, keepMs = 1_000 }: ReadinessOptions = {},
  ) {
    this.#checks = new Map(Object.entries(checks));
    this.#checkMs = checkMs;
    this.#keepMs = keepMs;
  }

  /** For services without dependencies. */
  static always(): Readiness {
    const readiness = new Readiness();
    readiness.started();
    return readiness;
  }

  /** Adds a check. */
  watch(name: string, check: () => Promise<unknown>): void {
    this.#checks.set(name, check);
  }

  /** Adds facts that are reported together with `ready`. */
  report(facts: () => Readonly<Record<string, unknown>>): void {
    this.#facts.push(facts);
  }

  /** Marks the service as started. */
  started(): void {
    if (this.#state === 'starting') this.#state = 'ready';
  }

  /** Marks the service as stopping, permanently: balancers should send no requests. */
  stopping(): void {
    this.#state = 'stopping';
  }

  get isStopping(): boolean {
    return this.#state === 'stopping';
  }

  /** The process is alive, whatever the state of its dependencies. */
  health(): ReadinessReport {
    return { status: 200, body: { status: 'ok' } };
  }

  async ready(): Promise<ReadinessReport> {
    const problems = this.#state === 'ready' ? await this.#check() : new Map<string, string>();
    // It may have begun to stop during the check.
    if (this.#state !== 'ready') return { status: 503, body: { status: this.#state } };
    if (problems.size === 0)
      return { status: 200, body: Object.assign({ status: 'ready' }, ...this.#facts.map((facts) => facts())) };
    return { status: 503, body: { status: 'not ready', problems: Object.fromEntries(problems) } };
  }

  /** Concurrent calls share one check. */
  #check(): Promise<ReadonlyMap<string, string>> {
    if (this.#found && performance.now() - this.#foundAt < this.#keepMs) return this.#found;
    this.#foundAt = Number.POSITIVE_INFINITY;
    this.#found = this.#checkAll().finally(() => {
      this.#foundAt = performance.now();
    });
    return this.#found;
  }

  async #checkAll(): Promise<ReadonlyMap<string, string>> {
    const problems = new Map<string, string>();
    await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        // A database's message may contain its host: it is logged, and the response says only that the check failed.
        const problem = await problemWithin(check, this.#checkMs);
        if (problem !== undefined) problems.set(name, problem);
      }),
    );
    return problems;
  }
}

const NO_ANSWER = 'does not answer';

async function problemWithin(check: () => Promise<unknown>, ms: number): Promise<string | undefined> {
  let late: NodeJS.Timeout | undefined;
  const limit = new Promise<string>((resolve) => {
    late = setTimeout(() => resolve(NO_ANSWER), ms);
  });
  const answered = Promise.resolve()
    .then(check)
    .then(
      () => undefined,
      (error: unknown) => (error instanceof NotReady ? error.message : NO_ANSWER),
    );
  return Promise.race([answered, limit]).finally(() => clearTimeout(late));
}
