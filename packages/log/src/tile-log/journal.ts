// The write-ahead journal: a leaf is durable here first, and is kept until its tiles are durable.
import { type FileHandle, open, readdir, readFile, truncate, unlink } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory, syncDirectory } from '../files/durable-file.ts';
import { systemCode } from '../files/permission.ts';
import { LogError, logErrorFrom } from '../log-error.ts';
import { type DecodedSegment, decodeSegment, encodeRecord } from './journal-record.ts';

/** Leaves of a segment file: a multiple of a tile, so that full tiles cover a complete segment. */
export const SEGMENT_LEAVES = 4096;

/** A segment read at start. */
export interface Segment extends Omit<DecodedSegment, 'end'> {
  readonly first: number;
  readonly file: string;
}

/**
 * Reads the segments that a log starts from: the contiguous run that ends with the newest. Segments before a gap are leftovers
 * whose removal a power failure undid. Throws LogError `corrupt-journal`, except for a torn end of the newest segment.
 */
export async function readSegments(directory: string): Promise<Segment[]> {
  const firsts = await listSegments(directory);
  const gap = firsts.findLastIndex((first, at) => at > 0 && first !== (firsts[at - 1] ?? 0) + SEGMENT_LEAVES);
  const run = firsts.slice(Math.max(gap, 0));
  const segments: Segment[] = [];
  for (const [at, first] of run.entries()) {
    const file = segmentFile(directory, first);
    const { end, ...decoded } = decodeSegment(await readFile(file), first);
    const isNewest = at === run.length - 1;
    const isTooLong = decoded.leaves > SEGMENT_LEAVES || first % SEGMENT_LEAVES !== 0;
    if (end === 'corrupt' || isTooLong || (!isNewest && decoded.leaves < SEGMENT_LEAVES)) {
      const index = first + decoded.leaves;
      throw new LogError(
        'corrupt-journal',
        `${file} is damaged at byte ${decoded.goodBytes}, where leaf ${index} begins`,
      );
    }
    segments.push({ ...decoded, first, file });
  }
  return segments;
}

/** First leaf indexes of the segment files, in order. */
async function listSegments(directory: string): Promise<number[]> {
  let names: string[] = [];
  try {
    names = await readdir(directory);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  const firsts = names.filter((name) => /^\d{16}$/.test(name)).map(Number);
  return firsts.sort((a, b) => a - b);
}

const segmentFile = (directory: string, first: number): string => path.join(directory, String(first).padStart(16, '0'));

/** The open journal. Only the commit loop calls `append`, sequentially; `dropBefore` may run concurrently. */
export class Journal implements AsyncDisposable {
  readonly #directory: string;
  #oldest: number;
  #current: { first: number; handle: FileHandle; bytes: number } | undefined;
  #broken: LogError | undefined;

  private constructor(directory: string, oldest: number) {
    this.#directory = directory;
    this.#oldest = oldest;
  }

  /** Opens the journal for appending after the given segments, and truncates a torn end. */
  static async open(directory: string, segments: readonly Segment[]): Promise<Journal> {
    await makeDirectory(directory);
    const newest = segments.at(-1);
    const oldest = segments[0]?.first ?? 0;
    for (const first of await listSegments(directory)) if (first < oldest) await unlink(segmentFile(directory, first));
    const journal = new Journal(directory, oldest);
    if (newest) {
      await truncate(newest.file, newest.goodBytes);
      const handle = await open(newest.file, 'r+');
      await handle.sync();
      journal.#current = { first: newest.first, handle, bytes: newest.goodBytes };
    }
    return journal;
  }

  /** Why every append fails until the journal is reopened. */
  get refusal(): LogError | undefined {
    return this.#broken;
  }

  /**
   * Makes a batch durable; it must not cross the end of a segment. If the write fails, the journal is rolled back and the
   * append can be retried; if the rollback fails, every later call rejects with the same error.
   */
  async append(firstIndex: number, leaves: readonly Uint8Array[]): Promise<void> {
    if (this.#broken) throw this.#broken;
    const record = encodeRecord(firstIndex, leaves);
    const segment = await this.#segmentOf(firstIndex);
    try {
      await writeFully(segment.handle, record, segment.bytes);
    } catch (cause) {
      await this.#rollBack(segment);
      throw logErrorFrom(cause, 'append to the journal');
    }
    try {
      await segment.handle.datasync();
    } catch (cause) {
      // The kernel may have dropped the pages: the content of the disk is unknown until a restart reads it.
      this.#broken = logErrorFrom(cause, 'make the journal durable');
      throw this.#broken;
    }
    segment.bytes += record.length;
  }

  /** Deletes the segments that end before a leaf index: their tiles are durable. */
  async dropBefore(index: number): Promise<void> {
    while (this.#oldest + SEGMENT_LEAVES <= index && this.#oldest !== this.#current?.first) {
      await unlink(segmentFile(this.#directory, this.#oldest));
      this.#oldest += SEGMENT_LEAVES;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#current?.handle.close();
    this.#current = undefined;
  }

  /** The segment of a leaf; the name of a new segment is durable before its first record. */
  async #segmentOf(index: number): Promise<{ first: number; handle: FileHandle; bytes: number }> {
    const first = index - (index % SEGMENT_LEAVES);
    if (this.#current?.first === first) return this.#current;
    let handle: FileHandle | undefined;
    try {
      // Not exclusive: a crash or a full disk may have left an empty file.
      handle = await open(segmentFile(this.#directory, first), 'w');
      await syncDirectory(this.#directory);
      await this.#current?.handle.close();
      this.#current = { first, handle, bytes: 0 };
      return this.#current;
    } catch (cause) {
      await handle?.close();
      throw logErrorFrom(cause, 'begin a journal segment');
    }
  }

  async #rollBack(segment: { handle: FileHandle; bytes: number }): Promise<void> {
    try {
      await segment.handle.truncate(segment.bytes);
    } catch (cause) {
      this.#broken = logErrorFrom(cause, 'roll back a partially written batch');
    }
  }
}

async function writeFully(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
