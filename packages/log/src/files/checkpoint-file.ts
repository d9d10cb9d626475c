// Saves the newest published checkpoint in a file and, for a log of one process, in a second location, so that the next start
// detects lost leaves even if the directory lost the checkpoint with them.
import { setTimeout as delay } from 'node:timers/promises';
import { readIfPresent, replaceFile } from '@strata/files';
import { type Checkpoint, checkpointOfNote } from '@strata/receipts';
import { type LogError, logErrorFrom } from '../log-error.ts';

/** Storage outside of the log's directory for its newest checkpoint. */
export interface CheckpointCopy {
  /** The last written signed note; undefined before the first. */
  read(): Promise<string | undefined>;
  write(note: string): Promise<void>;
}

export interface SaverOptions {
  /** Returns the current checkpoint. Its leaves are durable, so a saved checkpoint is never ahead of the log. */
  readonly served: () => string;
  readonly write: (note: string) => Promise<void>;
  /** Time between two saves; checkpoints published in between are not saved if the process is killed. */
  readonly intervalMs?: number;
}

export class CheckpointSaver implements AsyncDisposable {
  readonly #options: SaverOptions;
  readonly #closing = new AbortController();
  #saving: Promise<void> | undefined;
  #error: LogError | undefined;

  constructor(options: SaverOptions) {
    this.#options = options;
  }

  /** Why the last save failed. */
  get error(): LogError | undefined {
    return this.#error;
  }

  /** Saves the current checkpoint, and newer ones in the background. */
  save(): void {
    this.#saving ??= this.#saveAll();
  }

  async #saveAll(): Promise<void> {
    const { served, write, intervalMs } = this.#options;
    const { signal } = this.#closing;
    try {
      for (let saved = ''; saved !== served(); ) {
        saved = served();
        await write(saved);
        if (intervalMs !== undefined) await delay(intervalMs, undefined, { signal, ref: false }).catch(() => {});
      }
      this.#error = undefined;
    } catch (cause) {
      this.#error = logErrorFrom(cause, 'save the checkpoint');
    }
    this.#saving = undefined;
  }

  /** Saves the current checkpoint before it resolves. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#saving;
  }
}

/** Saves to a file without fsync; other processes may save to the same file. */
export function fileSaver(file: string, served: () => string): CheckpointSaver {
  const write = (note: string) => replaceFile(file, note, { sync: 'none', isShared: true });
  return new CheckpointSaver({ served, write, intervalMs: FILE_INTERVAL_MS });
}

/** Of the file: writing it takes as long as a small commit. */
const FILE_INTERVAL_MS = 20;
/** Interval of the copy, which is a database transaction; a loss of later leaves is detected only by the file. */
const COPY_INTERVAL_MS = 200;

export function copySaver(copy: CheckpointCopy, served: () => string): CheckpointSaver {
  return new CheckpointSaver({ served, write: (note) => copy.write(note), intervalMs: COPY_INTERVAL_MS });
}

export interface SavedCheckpoint {
  readonly note: string;
  /** The parsed note, whose signature is not verified; undefined if it is not a checkpoint. */
  readonly checkpoint: Checkpoint | undefined;
}

/** Undefined if there is no file. The file is written without fsync: a power failure may leave it empty, which is ignored. */
export async function readCheckpointFile(file: string): Promise<SavedCheckpoint | undefined> {
  return savedCheckpointOf(new TextDecoder().decode(await readIfPresent(file)));
}

/** Undefined for an empty text. */
export function savedCheckpointOf(note: string): SavedCheckpoint | undefined {
  if (note === '') return undefined;
  return { note, checkpoint: checkpointOfNote(note) };
}
