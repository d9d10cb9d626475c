// A witness of logs (c2sp.org/tlog-witness): cosigns checkpoints that are consistent with the latest one that it has cosigned.
import { createHash } from 'node:crypto';
import path from 'node:path';
import { makeDirectory, readIfPresent, replaceFile } from '@strata/files';
import {
  cosign,
  formatVerifierKey,
  joinNote,
  judgeCheckpoint,
  type NoteSigner,
  type NoteVerifier,
  noteText,
  noteVerifier,
  originOf,
  parseAddCheckpoint,
  readCosignatures,
  SIGNATURE_TYPES,
} from '@strata/receipts';
import { type SavedCheckpoint, savedCheckpointOf } from '../files/checkpoint-file.ts';
import { lockLog } from '../files/log-lock.ts';
import { openKeyring } from '../keys/signing-keys.ts';
import { noteSigner } from '../log.ts';
import { LogError } from '../log-error.ts';

export interface WitnessOptions {
  /** Holds the witness's key and the latest checkpoint of each log; one process at a time. */
  readonly directory: string;
  /** Permanent name of its key, such as `witness.example/w1`. */
  readonly name: string;
  /** Keys of the accepted logs, by origin. */
  readonly logs: ReadonlyMap<string, readonly NoteVerifier[]>;
  readonly now: () => Date;
}

/** A response of the protocol. */
export interface WitnessAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly contentType: string;
  readonly body: string;
  /** A checkpoint that the log has signed and whose proof is invalid: possible evidence of a fork. Without signatures of other keys. */
  readonly evidence?: string;
}

const TEXT = 'text/plain; charset=utf-8';

/**
 * Crash safety: a checkpoint and its cosignature are durable, in one file, before the response is sent, so a restart finds what a
 * client has. A process that ends in between has sent nothing, and a restart finds the previous checkpoint or this one; both are
 * consistent with what is cosigned next. Requests of one log are serialized from comparison to recording.
 */
export class Witness implements AsyncDisposable {
  readonly #options: WitnessOptions;
  #lock: Disposable | undefined;
  readonly #signer: NoteSigner;
  readonly #latest = new Map<string, SavedCheckpoint>();
  /** The last request of each log. */
  readonly #queues = new Map<string, Promise<unknown>>();

  private constructor(
    options: WitnessOptions,
    { lock, signer }: { readonly lock: Disposable; readonly signer: NoteSigner },
  ) {
    this.#options = options;
    this.#lock = lock;
    this.#signer = signer;
  }

  /** Creates the key on first start. Rejects with KeyringError, or LogError: `locked`, `corrupt-checkpoint`. */
  static async open(options: WitnessOptions): Promise<Witness> {
    const { directory, name, now } = options;
    await makeDirectory(path.join(directory, 'checkpoints'));
    await using stack = new AsyncDisposableStack();
    const lock = stack.use(lockLog(directory));
    const { signer } = await openKeyring({ directory: path.join(directory, 'keys'), now });
    const witness = new Witness(options, { lock, signer: noteSigner(name, signer) });
    for (const origin of options.logs.keys()) await witness.#load(origin);
    stack.move();
    return witness;
  }

  /** The verifier key of its cosignatures. */
  get verifierKey(): string {
    return formatVerifierKey(this.#verifier);
  }

  /** Handles a request; rejects without a cosignature if the checkpoint cannot be recorded. */
  async addCheckpoint(body: string): Promise<WitnessAnswer> {
    const request = parseAddCheckpoint(body);
    const origin = request && originOf(request);
    if (!request || origin === undefined) return refused(400, 'the request is malformed');
    const before = this.#queues.get(origin) ?? Promise.resolve();
    const answer = before.then(async (): Promise<WitnessAnswer> => {
      const judged = await judgeCheckpoint(request, {
        verifiersOf: (origin) => this.#options.logs.get(origin),
        latestOf: (origin) => this.#latest.get(origin)?.checkpoint,
      });
      if (judged.status === 409) return { status: 409, contentType: 'text/x.tlog.size', body: `${judged.size}\n` };
      if (judged.status === 422) {
        const { problem, evidence } = judged;
        return { ...refused(422, problem), ...(evidence !== undefined && { evidence }) };
      }
      if (judged.status !== 200) return refused(judged.status, judged.problem);
      const line = cosign(judged.text, this.#signer, this.#options.now());
      const note = joinNote(judged.text, [...judged.signatures, line]);
      const saved = await this.#readBack(origin, note);
      if (!saved) return refused(400, 'the checkpoint is too large to be stored with a cosignature');
      if (this.#textOf(origin) !== judged.text) await this.#record(origin, saved);
      return { status: 200, contentType: TEXT, body: `${line}\n` };
    });
    const queue = answer.catch(() => {});
    this.#queues.set(origin, queue);
    // Limits memory: any client can send any origin.
    void queue.then(() => this.#queues.get(origin) === queue && this.#queues.delete(origin));
    return answer;
  }

  /** The latest checkpoint of the log whose origin has this SHA-256 (hex), with the log's signature and the cosignature. */
  checkpoint(originHash: string): string | undefined {
    for (const [origin, { note }] of this.#latest) if (originHashOf(origin) === originHash) return note;
    return undefined;
  }

  /** Waits for requests in flight, and releases the lock. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#queues.values());
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }

  get #verifier(): NoteVerifier {
    return noteVerifier(this.#signer.name, this.#signer.publicKey, SIGNATURE_TYPES.cosignature);
  }

  #fileOf(origin: string): string {
    return path.join(this.#options.directory, 'checkpoints', originHashOf(origin));
  }

  #textOf(origin: string): string | undefined {
    const latest = this.#latest.get(origin);
    return latest && noteText(latest.note);
  }

  /** Rejects a stored file that this witness has not written. */
  async #load(origin: string): Promise<void> {
    const file = this.#fileOf(origin);
    const bytes = await readIfPresent(file);
    if (!bytes) return;
    const saved = await this.#readBack(origin, new TextDecoder().decode(bytes));
    if (!saved) throw new LogError('corrupt-checkpoint', `${file} is not a checkpoint cosigned by this witness`);
    this.#latest.set(origin, saved);
  }

  /** Parses a stored note; undefined unless it is a checkpoint of the log that this witness has cosigned. */
  async #readBack(origin: string, note: string): Promise<SavedCheckpoint | undefined> {
    const saved = savedCheckpointOf(note);
    const read = await readCosignatures(note, [this.#verifier]);
    const isOurs = 'cosignatures' in read && read.cosignatures.length === 1 && saved?.checkpoint?.origin === origin;
    return isOurs ? saved : undefined;
  }

  async #record(origin: string, saved: SavedCheckpoint): Promise<void> {
    const file = this.#fileOf(origin);
    await replaceFile(file, saved.note, { sync: 'all' });
    this.#latest.set(origin, saved);
  }
}

const refused = (status: 400 | 403 | 404 | 422, problem: string): WitnessAnswer => ({
  status,
  contentType: TEXT,
  body: `${problem}\n`,
});

/** The path component of a log's checkpoint at a witness. */
export const originHashOf = (origin: string): string => createHash('sha256').update(origin).digest('hex');
