// Which workers have proved that they have the file of a pinned model and answer by it: only these get its traffic.
// A worker is checked when it joins, and again after a random time. docs/trust.md says what the checks do not show.
import { lackingOf, type OfferedModel, type Verified } from '@strata/inference';
import type { Logger } from 'pino';
import type { Verifier } from '../audit/audit-panel.ts';
import type { ReputationRecorder } from '../audit/reputation-recorder.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import { provesFile } from './file-proof.ts';
import type { TrialOptions, TrialResult } from './trial.ts';

export interface PinnedWorker {
  readonly session: WorkerSession;
  readonly offer: OfferedModel;
}

/** The tree of a pinned file. */
export interface KnownTree {
  readonly digest: string;
  /** Who knows it, for reasons. */
  readonly source: string;
  /** Another tree is a violation. */
  readonly isCertain: boolean;
}

export interface ProofsDeps {
  /** Connected and trusted workers that offer the file. */
  readonly workers: (modelSha256: string) => readonly PinnedWorker[];
  /** The tree digest of the gateway's own copy, or that in the pin, with the source; undefined: neither exists. */
  readonly knownTree: (modelSha256: string) => Promise<KnownTree | undefined>;
  /** This gateway's own engine with the file. */
  readonly ownVerifier: (modelSha256: string) => Verifier | undefined;
  readonly workerVerifier: (session: WorkerSession, modelSha256: string) => Verifier;
  readonly trial: (
    worker: PinnedWorker,
    options: Omit<TrialOptions, 'vocabularySize' | 'drawsItself'>,
  ) => Promise<TrialResult>;
  /** The trees whose chunks were proved; remembered, so that reconnecting does not cost all chunks again. */
  readonly records: Pick<ReputationRecorder, 'file' | 'noteTree'>;
  /** A violation is proved: the worker is quarantined. */
  readonly breach: (peer: string, reason: string) => void;
  /** Called when the level of a worker has changed. */
  readonly onChange: () => void;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly random: () => number;
}

/** A worker that lacks a quarter of the file passes with a probability of 1 %. */
const FIRST_CHUNKS = 16;
const LATER_CHUNKS = 2;
/** Time to the next check of chunks and answers: between the first and the sum of both. */
const RECHECK_MS = 300_000;
const RECHECK_SPREAD_MS = 600_000;
/** Delay before a retry when the gateway lacks a reference. */
const RETRY_MS = 2_000;
const SILENT_MS = 30_000;
const MAX_CONCURRENT = 4;
/** Of one check, so that a slow worker does not delay the checks of other workers. */
const CHECK_MS = 60_000;

interface Outcome {
  readonly verified: Verified;
  readonly nextMs: number;
  /** After a trial: the number of workers that had proved the file. Another number is a reason for another trial. */
  readonly copies?: number;
}

interface State extends Omit<Outcome, 'nextMs'> {
  readonly dueAtMs: number;
  /** The tree in the offer that was checked. */
  readonly treeSha256: string | undefined;
}

const WAITING: Verified = { level: 'claimed', reason: 'the worker has not proved the file of the pin yet' };

const claimed = (reason: string, nextMs = RETRY_MS): Outcome => ({ verified: { level: 'claimed', reason }, nextMs });

export class Proofs implements AsyncDisposable {
  readonly #deps: ProofsDeps;
  /** By model and peer; of connected workers only. */
  readonly #states = new Map<string, Map<string, State>>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopped = new AbortController();

  /** `pinned`: the SHA-256 of each pinned file. */
  constructor(pinned: Iterable<string>, deps: ProofsDeps) {
    this.#deps = deps;
    for (const sha256 of pinned) this.#states.set(sha256, new Map());
  }

  /** Undefined for a model that is not pinned. */
  of(peer: string, modelSha256: string): Verified | undefined {
    const states = this.#states.get(modelSha256);
    return states && (states.get(peer)?.verified ?? WAITING);
  }

  /** Starts the checks that are due; must be called regularly, and when workers change. */
  check(): void {
    for (const [sha256, states] of this.#states) {
      const workers = this.#deps.workers(sha256);
      const connected = new Set(workers.map(({ session }) => session.peer));
      const copies = this.#copies(sha256, workers).length;
      for (const peer of states.keys()) if (!connected.has(peer)) states.delete(peer);
      const dueAtMs = ({ session, offer }: PinnedWorker) => {
        const state = states.get(session.peer);
        return state && state.treeSha256 === offer.fileTreeSha256 ? state.dueAtMs : 0;
      };
      for (const worker of workers.toSorted((a, b) => dueAtMs(a) - dueAtMs(b))) {
        const { peer } = worker.session;
        const key = `${sha256} ${peer}`;
        if (this.#running.size >= MAX_CONCURRENT || this.#running.has(key)) continue;
        const state = states.get(peer);
        const isOutdated = state?.verified.level === 'claimed' && (state.copies ?? copies) !== copies;
        if (!isOutdated && dueAtMs(worker) > this.#deps.nowMs()) continue;
        // Another tree than the one that was checked.
        if (state && dueAtMs(worker) === 0) states.delete(peer);
        const run = this.#check(sha256, worker).finally(() => this.#running.delete(key));
        this.#running.set(key, run);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #check(sha256: string, worker: PinnedWorker): Promise<void> {
    const { nowMs, logger, onChange } = this.#deps;
    const { peer } = worker.session;
    const states = this.#states.get(sha256) as Map<string, State>;
    const before = states.get(peer);
    const { nextMs, ...outcome } = await this.#outcome(sha256, worker, before).catch((error: unknown) => {
      logger.debug({ err: error, peer }, 'a check of a pinned model failed');
      return claimed('the worker did not answer a check of the pinned file', SILENT_MS);
    });
    if (this.#stopped.signal.aborted || !worker.session.isAlive) return;
    const { verified } = outcome;
    states.set(peer, { ...outcome, dueAtMs: nowMs() + nextMs, treeSha256: worker.offer.fileTreeSha256 });
    if (before?.verified.reason === verified.reason) return;
    logger.info({ peer, model: sha256, ...verified }, 'a worker of a pinned model was checked');
    onChange();
  }

  async #outcome(sha256: string, worker: PinnedWorker, before: State | undefined): Promise<Outcome> {
    const { session, offer } = worker;
    const { random, breach, trial, records } = this.#deps;
    const signal = AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(CHECK_MS)]);
    const { fileTreeSha256: treeSha256, sizeBytes } = offer;
    if (treeSha256 === undefined) return claimed('the version of the worker cannot prove its file');
    const known = await this.#tree(sha256).catch((error: unknown) => {
      this.#deps.logger.warn({ err: error, model: sha256 }, 'the copy of a pinned model cannot be read');
      return 'unreadable' as const;
    });
    if (known === 'unreadable') return claimed('this gateway cannot read its own copy of the file', SILENT_MS);
    if (!known)
      return claimed('nothing to compare the file of the worker with: no digest in the pin, own copy, or agreement');
    if (treeSha256 !== known.digest) {
      if (known.isCertain) breach(session.peer, 'another file under the SHA-256 of a pinned model');
      return claimed(`the worker has another file: ${known.source}`);
    }
    const isProved = records.file(session.peer, sha256).treeSha256 === treeSha256;
    // Without a recheck that is due, only the trial is repeated.
    const isRetry = isProved && before?.verified.level === 'claimed';
    const chunks = isRetry ? 0 : isProved ? LATER_CHUNKS : FIRST_CHUNKS;
    if (!(await provesFile(session, { modelSha256: sha256, treeSha256, sizeBytes, chunks, random, signal }))) {
      records.noteTree(session.peer, sha256, undefined);
      breach(session.peer, 'chunks that are not of the file that it offers');
      return claimed('the worker returned chunks that are not of the file');
    }
    // Before the trial: two workers can be each other's verifiers.
    records.noteTree(session.peer, sha256, treeSha256);
    const verifiers = this.#verifiers(sha256, session);
    const copies = this.#copies(sha256, this.#deps.workers(sha256)).length;
    if (verifiers.length === 0)
      return claimed('the worker proved its file, but no other copy of it can score its answers');
    const result = await trial(worker, { verifiers, random, signal });
    const nextMs = RECHECK_MS + random() * RECHECK_SPREAD_MS;
    if (result.kind === 'unscored')
      return claimed('no other copy of the file scored an answer of the worker', SILENT_MS);
    if (result.kind === 'failed')
      return { ...claimed('the worker has the file, but does not answer by it', nextMs), copies };
    const by = result.verifiers === 0 ? "this gateway's copy" : `${result.verifiers} other workers with the file`;
    const reason = `the worker proved chunks of the file (${known.source}), and ${by} scored an answer clean`;
    return { verified: { level: 'pinned', reason }, nextMs };
  }

  /** Known, or the one that at least two workers name, and more than any other. */
  async #tree(sha256: string): Promise<KnownTree | undefined> {
    const known = await this.#deps.knownTree(sha256);
    if (known) return known;
    const names = this.#deps.workers(sha256).flatMap(({ offer }) => offer.fileTreeSha256 ?? []);
    const counts = [...Map.groupBy(names, (name) => name)].map(([digest, of]) => ({ digest, count: of.length }));
    const [first, second] = counts.sort((a, b) => b.count - a.count);
    if (!first || first.count < 2 || first.count === second?.count) return undefined;
    return { digest: first.digest, source: `${first.count} workers agree on its tree`, isCertain: false };
  }

  /** Workers that have proved the file that they offer. */
  #copies(sha256: string, workers: readonly PinnedWorker[]): readonly PinnedWorker[] {
    const { records } = this.#deps;
    return workers.filter(({ session, offer: { fileTreeSha256 } }) => {
      const { treeSha256 } = records.file(session.peer, sha256);
      return treeSha256 !== undefined && treeSha256 === fileTreeSha256;
    });
  }

  /** This gateway's own engine, or the workers that have proved the file; those with a passed trial first. */
  #verifiers(sha256: string, { peer }: WorkerSession): readonly Verifier[] {
    const { ownVerifier, workerVerifier, workers } = this.#deps;
    const own = ownVerifier(sha256);
    if (own) return [own];
    const states = this.#states.get(sha256);
    const rank = ({ session }: PinnedWorker) => (states?.get(session.peer)?.verified.level === 'pinned' ? 0 : 1);
    return this.#copies(sha256, workers(sha256))
      .filter(({ session, offer: { lacks } }) => session.peer !== peer && lackingOf(lacks, ['scores']) === undefined)
      .sort((a, b) => rank(a) - rank(b))
      .map(({ session }) => workerVerifier(session, sha256));
  }
}
