// Worker reputations, and what each worker has shown of its model files, in memory and in the database, where several
// gateways add to them: each applies what it found to the stored record shortly after, and reads what is new. A
// crash loses at most the findings of the last second, which later audits reproduce.
import { FailureLog } from '@strata/http';
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
/** Interval at which changes of other gateways are read. */
const READ_MS = 2_000;
/** While the database fails, more changes of one worker than this are replaced by their result. */
const MAX_CHANGES = 100;
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

/** Applied to the record in memory, and later to the stored one. */
type Change = (record: WorkerRecord) => WorkerRecord;

export class ReputationRecorder implements AsyncDisposable {
  readonly #deps: ReputationRecorderDeps;
  /** The least recently changed first. */
  readonly #records: Map<string, WorkerRecord>;
  /** By peer; empty for a record that is dropped. */
  readonly #unwritten = new Map<string, Change[]>();
  #revision: number;
  readonly #failures: FailureLog;
  readonly #reading: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(deps: ReputationRecorderDeps, records: Map<string, WorkerRecord>, revision: number) {
    this.#deps = deps;
    this.#records = records;
    this.#revision = revision;
    this.#failures = new FailureLog(deps.logger, { what: 'reading the reputations of other gateways' });
    this.#reading = setInterval(() => void this.#refreshLogged(), READ_MS).unref();
  }

  /** Rejects if the reputations cannot be read; a single invalid one is logged and dropped. */
  static async open(deps: ReputationRecorderDeps): Promise<ReputationRecorder> {
    const records: [string, WorkerRecord][] = [];
    const { revision, texts } = await deps.reputations.read();
    for (const [peer, text] of texts) {
      const record = read(text);
      if (record) records.push([peer, record]);
      else deps.logger.warn({ peer }, 'a reputation is invalid: the worker starts with a new one');
    }
    records.sort(([, a], [, b]) => a.reputation.changedAtMs - b.reputation.changedAtMs);
    const recorder = new ReputationRecorder(deps, new Map(records), revision);
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
    const at = nowMs();
    this.#change(peer, (record) => ({
      ...record,
      reputation: afterFinding(atTime(record.reputation, at), finding, at),
    }));
    const { reputation } = this.#record(peer);
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
    if (outcome === 'clean')
      this.#noteFile(peer, modelSha256, (file) => ({ ...file, cleanAudits: file.cleanAudits + 1 }));
    else if (this.file(peer, modelSha256).cleanAudits > 0 && (outcome === 'deviating' || outcome === 'proof'))
      this.#noteFile(peer, modelSha256, (file) => ({ ...file, cleanAudits: 0 }));
  }

  /** Chunks of a file were proved; undefined: an earlier proof no longer counts. */
  noteTree(peer: string, modelSha256: string, treeSha256: string | undefined): void {
    if (this.file(peer, modelSha256).treeSha256 !== treeSha256)
      this.#noteFile(peer, modelSha256, (file) => ({ ...file, treeSha256 }));
  }

  /** Reads what other gateways have written. Rejects with StoreError. */
  async refresh(): Promise<void> {
    const { revision, texts } = await this.#deps.reputations.read(this.#revision);
    this.#revision = revision;
    for (const [peer, text] of texts) {
      const record = read(text);
      // Unwritten changes are applied to it when they are written.
      if (record && !this.#unwritten.has(peer)) this.#records.set(peer, record);
    }
    this.#forget();
  }

  async #refreshLogged(): Promise<void> {
    try {
      await this.refresh();
      this.#failures.recovered();
    } catch (error) {
      this.#failures.failed(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#reading);
    this.#write();
    await this.#writing;
  }

  #noteFile(peer: string, modelSha256: string, change: (file: FileRecord) => FileRecord): void {
    const at = this.#deps.nowMs();
    this.#change(peer, (record) => {
      const files = new Map(record.files);
      const file = files.get(modelSha256) ?? { cleanAudits: 0 };
      files.delete(modelSha256);
      files.set(modelSha256, change(file));
      const [oldest] = files.keys();
      if (files.size > MAX_FILES && oldest !== undefined) files.delete(oldest);
      return { reputation: atTime(record.reputation, at), files };
    });
  }

  #record(peer: string): WorkerRecord {
    return this.#records.get(peer) ?? NEW_RECORD;
  }

  #change(peer: string, change: Change): void {
    const record = change(this.#record(peer));
    this.#records.delete(peer);
    this.#records.set(peer, record);
    const changes = this.#unwritten.get(peer) ?? [];
    this.#unwritten.set(peer, changes.length < MAX_CHANGES ? [...changes, change] : [() => record]);
    this.#forget();
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#write(), WRITE_AFTER_MS).unref();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const unwritten = [...this.#unwritten];
    this.#unwritten.clear();
    this.#writing = this.#writing.then(async () => {
      for (const [peer, changes] of unwritten) await this.#writeOne(peer, changes);
    });
  }

  async #writeOne(peer: string, changes: readonly Change[]): Promise<void> {
    const apply = (stored: WorkerRecord) => changes.reduce((record, change) => change(record), stored);
    try {
      const text = await this.#deps.reputations.update(peer, (stored) => {
        if (changes.length === 0) return undefined;
        const { reputation, files } = apply((stored && read(stored)) || NEW_RECORD);
        return JSON.stringify({ ...reputation, files: Object.fromEntries(files) });
      });
      const written = text && read(text);
      if (written && this.#records.has(peer) && !this.#unwritten.has(peer)) this.#records.set(peer, written);
    } catch (error) {
      this.#unwritten.set(peer, [...changes, ...(this.#unwritten.get(peer) ?? [])]);
      this.#schedule();
      this.#deps.logger.error({ err: error, peer }, 'writing a reputation failed');
    }
  }

  #forget(): void {
    for (const isForgotten of FORGOTTEN) {
      for (const [peer, { reputation }] of this.#records) {
        if (this.#records.size <= MAX_PEERS) return;
        if (!isForgotten(reputation)) continue;
        this.#records.delete(peer);
        this.#unwritten.set(peer, []);
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
