// The newest checkpoint that was served, in a file: at the next start it shows whether leaves were lost.
import { type Checkpoint, parseCheckpoint } from '@strata/receipts';
import { readIfPresent, replaceFile } from './durable-file.ts';
import { type LogError, logErrorFrom } from './log-error.ts';

export class CheckpointFile implements AsyncDisposable {
  readonly #file: string;
  readonly #served: () => string;
  #saving: Promise<void> | undefined;
  #error: LogError | undefined;

  /** `served` answers the checkpoint as it is at any moment. */
  constructor(file: string, served: () => string) {
    this.#file = file;
    this.#served = served;
  }

  /** Why the latest could not be saved. */
  get error(): LogError | undefined {
    return this.#error;
  }

  /** Saves what is served, and what is served by the time that is done; does not wait for the disk. */
  save(): void {
    this.#saving ??= this.#saveAll();
  }

  async #saveAll(): Promise<void> {
    try {
      for (let saved = ''; saved !== this.#served(); ) {
        saved = this.#served();
        await replaceFile(this.#file, new TextEncoder().encode(saved), { isSynced: false });
      }
      this.#error = undefined;
    } catch (cause) {
      this.#error = logErrorFrom(cause, 'save the checkpoint');
    }
    this.#saving = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#saving;
  }
}

/**
 * The saved note, and what it says, without a look at its signature; undefined where there is none. It is written without waiting
 * for the disk: a power cut may leave it empty, which tells nothing.
 */
export async function readCheckpointFile(
  file: string,
): Promise<{ readonly note: string; readonly checkpoint: Checkpoint | undefined } | undefined> {
  const note = new TextDecoder().decode(await readIfPresent(file));
  if (note === '') return undefined;
  return { note, checkpoint: parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1)) };
}
