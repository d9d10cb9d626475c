// Whether the service can be asked: it has started, does not stop, and what it stands on answers. Living is less: a service
// without its database lives, and a restart would mend nothing.

/** What is not well, in words that strangers may read. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** Rejects with NotReady while the ledger can give no receipts: answers without one do not leave, so requests belong elsewhere. */
export async function canSign(ledger: { problem(): string | undefined }): Promise<void> {
  const problem = ledger.problem();
  if (problem !== undefined) throw new NotReady(problem);
}

/** By name; each rejects where what it looks for is not well. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<unknown>>>;

export interface ReadinessReport {
  readonly status: 200 | 503;
  readonly body: Readonly<Record<string, unknown>> & { readonly status: string };
}

export interface ReadinessOptions {
  /** A check that takes longer has failed. */
  readonly checkMs?: number;
  /** What was found counts for so long, however often it is asked for. */
  readonly keepMs?: number;
  /** Told along with `ready`. */
  readonly facts?: () => Readonly<Record<string, unknown>>;
}

type State = 'starting' | 'ready' | 'stopping';

export class Readiness {
  readonly #checks: Map<string, () => Promise<unknown>>;
  readonly #checkMs: number;
  readonly #keepMs: number;
  readonly #facts: (() => Readonly<Record<string, unknown>>)[];
  #state: State = 'starting';
  #found: Promise<ReadonlyMap<string, string>> | undefined;
  #foundAt = Number.NEGATIVE_INFINITY;

  constructor(checks: ReadinessChecks = {}, options: ReadinessOptions = {}) {
    const { checkMs = 2_000, keepMs = 1_000, facts } = options;
    this.#checks = new Map(Object.entries(checks));
    this.#checkMs = checkMs;
    this.#keepMs = keepMs;
    this.#facts = facts ? [facts] : [];
  }

  /** For who has nothing to wait for. */
  static always(): Readiness {
    const readiness = new Readiness();
    readiness.started();
    return readiness;
  }

  /** Looks for one thing more from now on; rejects where it is not well. */
  watch(name: string, check: () => Promise<unknown>): void {
    this.#checks.set(name, check);
  }

  /** Reports these along with `ready`, too. */
  report(facts: () => Readonly<Record<string, unknown>>): void {
    this.#facts.push(facts);
  }

  /** It answers from now on. */
  started(): void {
    if (this.#state === 'starting') this.#state = 'ready';
  }

  /** From now on for good: balancers should send nobody here. */
  stopping(): void {
    this.#state = 'stopping';
  }

  /** The process lives, whatever is amiss around it. */
  health(): ReadinessReport {
    return { status: 200, body: { status: 'ok' } };
  }

  async ready(): Promise<ReadinessReport> {
    const problems = this.#state === 'ready' ? await this.#look() : new Map<string, string>();
    // It may have begun to stop meanwhile.
    if (this.#state !== 'ready') return { status: 503, body: { status: this.#state } };
    if (problems.size === 0)
      return { status: 200, body: Object.assign({ status: 'ready' }, ...this.#facts.map((facts) => facts())) };
    return { status: 503, body: { status: 'not ready', problems: Object.fromEntries(problems) } };
  }

  /** All that ask meanwhile share one look. */
  #look(): Promise<ReadonlyMap<string, string>> {
    if (this.#found && performance.now() - this.#foundAt < this.#keepMs) return this.#found;
    this.#foundAt = Number.POSITIVE_INFINITY;
    this.#found = this.#lookAtAll().finally(() => {
      this.#foundAt = performance.now();
    });
    return this.#found;
  }

  async #lookAtAll(): Promise<ReadonlyMap<string, string>> {
    const problems = new Map<string, string>();
    await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        // What a database says may name its host: it is for the log, and strangers hear that it failed.
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
