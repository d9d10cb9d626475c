// Standings of workers in memory, kept over a restart: read at the start, written a moment after they change. A crash loses the
// last moment's findings at most, and each finding lost is one that the next audits make again.
import { afterFinding, atTime, type Finding, NEWCOMER, Standing } from '@strata/inference';
import type { Standings } from '@strata/store';
import type { Logger } from 'pino';

export interface StandingsBookDeps {
  readonly standings: Standings;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

const WRITE_AFTER_MS = 1_000;
/** Peer ids are free: beyond, those give way that nothing is known against, the longest unchanged first. */
const MAX_PEERS = 10_000;

export class StandingsBook implements AsyncDisposable {
  readonly #deps: StandingsBookDeps;
  readonly #standings: Map<string, Standing>;
  readonly #unwritten = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(deps: StandingsBookDeps, standings: Map<string, Standing>) {
    this.#deps = deps;
    this.#standings = standings;
  }

  /** Rejects when the standings cannot be read; what one of them says that cannot be, is told and forgotten. */
  static async open(deps: StandingsBookDeps): Promise<StandingsBook> {
    const standings: [string, Standing][] = [];
    for (const [peer, text] of await deps.standings.all()) {
      const standing = read(text);
      if (standing) standings.push([peer, standing]);
      else deps.logger.warn({ peer }, 'a standing that cannot be read: the worker begins anew');
    }
    standings.sort(([, a], [, b]) => a.changedAtMs - b.changedAtMs);
    const book = new StandingsBook(deps, new Map(standings));
    book.#forget();
    return book;
  }

  /** As it is now. */
  of(peer: string): Standing {
    return atTime(this.#standings.get(peer) ?? NEWCOMER, this.#deps.nowMs());
  }

  note(peer: string, finding: Finding): Standing {
    const { logger, nowMs } = this.#deps;
    const before = this.of(peer);
    const standing = afterFinding(before, finding, nowMs());
    this.#standings.delete(peer);
    this.#standings.set(peer, standing);
    this.#forget();
    this.#unwritten.add(peer);
    this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS).unref();
    if (standing.state === 'quarantined' && before.state !== 'quarantined') {
      const until = new Date(standing.untilMs ?? nowMs()).toISOString();
      logger.warn({ peer, reason: standing.reason, until }, 'worker quarantined');
    }
    return standing;
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
        const standing = this.#standings.get(peer);
        if (!standing) continue;
        try {
          await this.#deps.standings.put(peer, JSON.stringify(standing));
        } catch (error) {
          this.#unwritten.add(peer);
          this.#deps.logger.error({ err: error, peer }, 'a standing was not written');
        }
      }
    });
  }

  #forget(): void {
    for (const [peer, { state, strikes }] of this.#standings) {
      if (this.#standings.size <= MAX_PEERS) return;
      if (state !== 'quarantined' && strikes < 1) this.#standings.delete(peer);
    }
    // A flood of proven liars: then the oldest of them.
    for (const peer of this.#standings.keys()) {
      if (this.#standings.size <= MAX_PEERS) return;
      this.#standings.delete(peer);
    }
  }
}

function read(text: string): Standing | undefined {
  try {
    return Standing.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
