// Worker reputations, and what each worker has shown of its model files, in memory and stored across restarts: read at
// the start, written shortly after a change. A crash loses at most the findings of the last second, which later audits
// reproduce.
import { afterFinding, atTime, type Finding, NEW_WORKER, Reputation } from '@strata/inference';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Reputations } from '../../store/index.ts';

export interface ReputationRecorderDeps {
  readonly reputations: Reputations;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

const WRITE_AFTER_MS = 1_000;
/** Peer ids cost nothing: above this number, records are dropped, the least recently changed first. */
const MAX_PEERS = 10_000;
/** What is dropped first: workers without audits, then those that are no proven offenders, then offenders. */
const FORGOTTEN: readonly ((reputation: Reputation) => boolean)[] = [
  ({ audits, evidence, strikes }) => audits === 0 && evidence === 0 && strikes === 0,
  ({ state, strikes }) => state !== 'quarantined' && strikes < 1,
  () => true,
];
/** Model files of one worker; what it has shown of the oldest is dropped. */
const MAX_FILES = 64;

/** What a worker has shown of one model file. */
const FileRecord = z
  .object({
    /** Audits without a deviation since the last one with a deviation. */
    cleanAudits: z.int().min(0).default(0),
    /** The tree whose chunks it has proved. */
    treeSha256: z.string().optional(),
  })
  .readonly();
export type FileRecord = z.infer<typeof FileRecord>;

/** Stored beside the fields of the reputation. By SHA-256 of the model file; absent in rows of earlier versions. */
const Files = z.object({ files: z.record(z.string(), FileRecord).default({}) });

interface WorkerRecord {
  readonly reputation: Reputation;
  readonly files: ReadonlyMap<string, FileRecord>;
}

const NEW_RECORD: WorkerRecord = { reputation: NEW_WORKER, files: new Map() };

export class ReputationRecorder implements AsyncDisposable {
  readonly #deps: ReputationRecorderDeps;
  /** The least recently changed first. */
  readonly #records: Map<string, WorkerRecord>;
  readonly #unwritten = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(deps: ReputationRecorderDeps, records: Map<string, WorkerRecord>) {
    this.#deps = deps;
    this.#records = records;
  }

  /** Rejects if the reputations cannot be read; a single invalid one is logged and dropped. */
  static async open(deps: ReputationRecorderDeps): Promise<ReputationRecorder> {
    const records: [string, WorkerRecord][] = [];
    for (const [peer, text] of await deps.reputations.all()) {
      const record = read(text);
      if (record) records.push([peer, record]);
      else deps.logger.warn({ peer }, 'a reputation is invalid: the worker starts with a new one');
    }
    records.sort(([, a], [, b]) => a.reputation.changedAtMs - b.reputation.changedAtMs);
    const recorder = new ReputationRecorder(deps, new Map(records));
    recorder.#forget();
    return recorder;
  }

  /** The current reputation of a worker. */
  of(peer: string): Reputation {
    return atTime(this.#record(peer).reputation, this.#deps.nowMs());
  }

  note(peer: string, finding: Finding): Reputation {
    const { logger, nowMs } = this.#deps;
    const before = this.of(peer);
    const reputation = afterFinding(before, finding, nowMs());
    this.#change(peer, { ...this.#record(peer), reputation });
    if (reputation.state === 'quarantined' && before.state !== 'quarantined') {
      const until = new Date(reputation.untilMs ?? nowMs()).toISOString();
      logger.warn({ peer, reason: reputation.reason, until }, 'worker quarantined');
    }
    return reputation;
  }

  /** What a worker has shown of a model file. */
  file(peer: string, modelSha256: string): FileRecord {
    return this.#record(peer).files.get(modelSha256) ?? { cleanAudits: 0 };
  }

  /** Counts an audit of an answer; one that found nothing changes nothing. */
  noteAudit({ peer, modelSha256, outcome }: { peer: string; modelSha256: string; outcome: string }): void {
    const { cleanAudits } = this.file(peer, modelSha256);
    if (outcome === 'clean') this.#noteFile(peer, modelSha256, { cleanAudits: cleanAudits + 1 });
    else if (cleanAudits > 0 && (outcome === 'deviating' || outcome === 'proof'))
      this.#noteFile(peer, modelSha256, { cleanAudits: 0 });
  }

  /** Chunks of a file were proved; undefined: an earlier proof no longer counts. */
  noteTree(peer: string, modelSha256: string, treeSha256: string | undefined): void {
    if (this.file(peer, modelSha256).treeSha256 !== treeSha256) this.#noteFile(peer, modelSha256, { treeSha256 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#write();
    await this.#writing;
  }

  #noteFile(peer: string, modelSha256: string, change: Partial<FileRecord>): void {
    const files = new Map(this.#record(peer).files);
    files.delete(modelSha256);
    files.set(modelSha256, { ...this.file(peer, modelSha256), ...change });
    const [oldest] = files.keys();
    if (files.size > MAX_FILES && oldest !== undefined) files.delete(oldest);
    this.#change(peer, { reputation: this.of(peer), files });
  }

  #record(peer: string): WorkerRecord {
    return this.#records.get(peer) ?? NEW_RECORD;
  }

  #change(peer: string, record: WorkerRecord): void {
    this.#records.delete(peer);
    this.#records.set(peer, record);
    this.#unwritten.add(peer);
    this.#forget();
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS).unref();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const peers = [...this.#unwritten];
    this.#unwritten.clear();
    this.#writing = this.#writing.then(async () => {
      for (const peer of peers) {
        const record = this.#records.get(peer);
        const text = record && JSON.stringify({ ...record.reputation, files: Object.fromEntries(record.files) });
        try {
          await (text ? this.#deps.reputations.put(peer, text) : this.#deps.reputations.remove(peer));
        } catch (error) {
          this.#unwritten.add(peer);
          this.#schedule();
          this.#deps.logger.error({ err: error, peer }, 'writing a reputation failed');
        }
      }
    });
  }

  #forget(): void {
    for (const isForgotten of FORGOTTEN) {
      for (const [peer, { reputation }] of this.#records) {
        if (this.#records.size <= MAX_PEERS) return;
        if (!isForgotten(reputation)) continue;
        this.#records.delete(peer);
        this.#unwritten.add(peer);
      }
    }
  }
}

function read(text: string): WorkerRecord | undefined {
  try {
    const stored: unknown = JSON.parse(text);
    const { files } = Files.parse(stored);
    return { reputation: Reputation.parse(stored), files: new Map(Object.entries(files)) };
  } catch {
    return undefined;
  }
}
