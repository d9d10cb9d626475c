// Worker reputations in memory, stored across restarts: read at the start, written shortly after a change. A crash
// loses at most the findings of the last second, which later audits reproduce.
import { afterFinding, atTime, type Finding, NEW_WORKER, Reputation } from '@strata/inference';
import type { Logger } from 'pino';
import type { Reputations } from '../../store/index.ts';

export interface ReputationRecorderDeps {
  readonly reputations: Reputations;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

const WRITE_AFTER_MS = 1_000;
/**
 * Peer ids cost nothing: above this number, peers without evidence against them are dropped, least recently changed
 * first.
 */
const MAX_PEERS = 10_000;

export class ReputationRecorder implements AsyncDisposable {
  readonly #deps: ReputationRecorderDeps;
  readonly #reputations: Map<string, Reputation>;
  readonly #unwritten = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(deps: ReputationRecorderDeps, reputations: Map<string, Reputation>) {
    this.#deps = deps;
    this.#reputations = reputations;
  }

  /** Rejects if the reputations cannot be read; a single invalid one is logged and dropped. */
  static async open(deps: ReputationRecorderDeps): Promise<ReputationRecorder> {
    const reputations: [string, Reputation][] = [];
    for (const [peer, text] of await deps.reputations.all()) {
      const reputation = read(text);
      if (reputation) reputations.push([peer, reputation]);
      else deps.logger.warn({ peer }, 'a reputation is invalid: the worker starts with a new one');
    }
    reputations.sort(([, a], [, b]) => a.changedAtMs - b.changedAtMs);
    const recorder = new ReputationRecorder(deps, new Map(reputations));
    recorder.#forget();
    return recorder;
  }

  /** The current reputation of a worker. */
  of(peer: string): Reputation {
    return atTime(this.#reputations.get(peer) ?? NEW_WORKER, this.#deps.nowMs());
  }

  note(peer: string, finding: Finding): Reputation {
    const { logger, nowMs } = this.#deps;
    const before = this.of(peer);
    const reputation = afterFinding(before, finding, nowMs());
    this.#reputations.delete(peer);
    this.#reputations.set(peer, reputation);
    this.#forget();
    this.#unwritten.add(peer);
    this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS).unref();
    if (reputation.state === 'quarantined' && before.state !== 'quarantined') {
      const until = new Date(reputation.untilMs ?? nowMs()).toISOString();
      logger.warn({ peer, reason: reputation.reason, until }, 'worker quarantined');
    }
    return reputation;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const peers = [...this.#unwritten];
    this.#unwritten.clear();
    this.#writing = this.#writing.then(async () => {
      for (const peer of peers) {
        const reputation = this.#reputations.get(peer);
        if (!reputation) continue;
        try {
          await this.#deps.reputations.put(peer, JSON.stringify(reputation));
        } catch (error) {
          this.#unwritten.add(peer);
          this.#deps.logger.error({ err: error, peer }, 'writing a reputation failed');
        }
      }
    });
  }

  #forget(): void {
    for (const [peer, { state, strikes }] of this.#reputations) {
      if (this.#reputations.size <= MAX_PEERS) return;
      if (state !== 'quarantined' && strikes < 1) this.#reputations.delete(peer);
    }
    // Only proven offenders are left: drop the oldest of them.
    for (const peer of this.#reputations.keys()) {
      if (this.#reputations.size <= MAX_PEERS) return;
      this.#reputations.delete(peer);
    }
  }
}

function read(text: string): Reputation | undefined {
  try {
    return Reputation.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
