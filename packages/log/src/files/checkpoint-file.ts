// The newest checkpoint that was served, kept in a file and, for a log in a folder, in a second place: at the next start it shows
// whether leaves were lost, also where the folder lost the checkpoint with them.
import { setTimeout as delay } from 'node:timers/promises';
import { type Checkpoint, checkpointOfNote } from '@strata/receipts';
import { type LogError, logErrorFrom } from '../log-error.ts';
import { readIfPresent, replaceFile } from './durable-file.ts';

/** A place outside of the log's folder that keeps its newest checkpoint. */
export interface CheckpointCopy {
  /** The signed note that was last written; undefined before the first. */
  read(): Promise<string | undefined>;
  write(note: string): Promise<void>;
}

export interface SaverOptions {
  /** Answers the checkpoint as it is at any moment. Its leaves are durable: what is saved is never ahead of the log. */
  readonly served: () => string;
  readonly write: (note: string) => Promise<void>;
  /** Time between two saves: what is served meanwhile is not saved where the process is killed. */
  readonly pauseMs?: number;
}

export class CheckpointSaver implements AsyncDisposable {
  readonly #options: SaverOptions;
  readonly #closing = new AbortController();
  #saving: Promise<void> | undefined;
  #error: LogError | undefined;

  constructor(options: SaverOptions) {
    this.#options = options;
  }

  /** Why the latest could not be saved. */
  get error(): LogError | undefined {
    return this.#error;
  }

  /** Saves what is served, and what is served by the time that is done; does not wait for it. */
  save(): void {
    this.#saving ??= this.#saveAll();
  }

  async #saveAll(): Promise<void> {
    const { served, write, pauseMs } = this.#options;
    const { signal } = this.#closing;
    try {
      for (let saved = ''; saved !== served(); ) {
        saved = served();
        await write(saved);
        if (pauseMs !== undefined) await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      }
      this.#error = undefined;
    } catch (cause) {
      this.#error = logErrorFrom(cause, 'save the checkpoint');
    }
    this.#saving = undefined;
  }

  /** What is served now is saved when it resolves. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#saving;
  }
}

/** Saves to a file without waiting for the disk. With `isShared`, other processes may save to it too. */
export function fileSaver(
  file: string,
  { served, isShared }: { readonly served: () => string; readonly isShared: boolean },
): CheckpointSaver {
  const write = (note: string) => replaceFile(file, new TextEncoder().encode(note), { isSynced: false, isShared });
  return new CheckpointSaver({ served, write });
}

export interface SavedCheckpoint {
  readonly note: string;
  /** What the note says, its signature unchecked; undefined where it is not a checkpoint. */
  readonly checkpoint: Checkpoint | undefined;
}

/** Undefined where there is none. It is written without waiting for the disk: a power cut may leave it empty, which says nothing. */
export async function readCheckpointFile(file: string): Promise<SavedCheckpoint | undefined> {
  return savedCheckpointOf(new TextDecoder().decode(await readIfPresent(file)));
}

/** Undefined of an empty text. */
export function savedCheckpointOf(note: string): SavedCheckpoint | undefined {
  if (note === '') return undefined;
  return { note, checkpoint: checkpointOfNote(note) };
}
