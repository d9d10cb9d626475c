// The metadata of a GGUF file, entry by entry (github.com/ggml-org/ggml/blob/master/docs/gguf.md). Files are untrusted:
// every length is checked against a limit before it is used.
import { open } from 'node:fs/promises';
import { EngineError } from '../engine.ts';
import { readAt } from '../model-store/file-tree.ts';

export interface MetadataEntry {
  readonly key: string;
  /** Key, type and value, as in the file. */
  readonly bytes: Uint8Array;
  /** The value of a text; undefined for any other kind. */
  readonly text: string | undefined;
  /** Number of values of an array; undefined for other types. */
  readonly length: number | undefined;
  /** Bytes of the longest text in an array of texts; 0 for other types. */
  readonly longest: number;
}

/** Vocabularies of 260,000 tokens with their merges are about 12 MB. */
const MAX_METADATA_BYTES = 64 * 1024 * 1024;
/** Real models have some tens. */
const MAX_KEYS = 4_096;
/** Limit of the format. */
const MAX_KEY_BYTES = 65_535;
/** Per array: token ids are smaller by the protocol; the largest vocabularies have 600,000 merges. */
const MAX_VALUES = 2 * 1024 * 1024;
/** Initial read size; doubled whenever it was too small, so that at most twice the metadata is parsed. */
const FIRST_BYTES = 1024 * 1024;

const STRING = 8;
const ARRAY = 9;
/** Bytes of a value by its type: integers of all sizes, floats, a boolean. */
const SIZES: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const MAGIC = 0x46554747;

/** Rejects with EngineError `model-unusable`. */
export async function readMetadata(file: string): Promise<readonly MetadataEntry[]> {
  try {
    await using handle = await open(file, 'r');
    let bytes: Uint8Array = new Uint8Array();
    for (let size = FIRST_BYTES; ; size *= 2) {
      const more = await readAt(handle, bytes.length, Math.min(size, MAX_METADATA_BYTES) - bytes.length);
      const isLast = more.length === 0;
      bytes = Buffer.concat([bytes, more]);
      const entries = new MetadataReader(bytes).read();
      if (entries) return entries;
      if (isLast) throw unusable(bytes.length >= MAX_METADATA_BYTES ? 'is too large' : 'is truncated');
    }
  } catch (cause) {
    if (cause instanceof EngineError) throw cause;
    throw new EngineError('model-unusable', `the model file ${file} cannot be read`, { cause });
  }
}

const unusable = (what: string) => new EngineError('model-unusable', `the metadata of the model file ${what}`);

/** More bytes are needed than have been read. */
class TooShort extends Error {}

class MetadataReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Undefined if the bytes end before the metadata does. */
  read(): readonly MetadataEntry[] | undefined {
    try {
      if (this.#u32() !== MAGIC) throw unusable('has no GGUF magic');
      const version = this.#u32();
      // Version 1 counts in 32 bits; no loader supports it any more. A file of the other byte order has a huge version
      // number.
      if (version !== 2 && version !== 3) throw unusable(`has version ${version}, which is not supported`);
      this.#length(Number.MAX_SAFE_INTEGER);
      const count = this.#length(MAX_KEYS);
      const entries = Array.from({ length: count }, () => this.#entry());
      if (new Set(entries.map(({ key }) => key)).size < count) throw unusable('has duplicate keys');
      return entries;
    } catch (error) {
      if (error instanceof TooShort) return undefined;
      throw error;
    }
  }

  #entry(): MetadataEntry {
    const from = this.#at;
    const key = this.#string(MAX_KEY_BYTES);
    const kind = this.#u32();
    let text: string | undefined;
    let array: { readonly length: number; readonly longest: number } | undefined;
    if (kind === STRING) text = this.#string(MAX_METADATA_BYTES);
    else if (kind === ARRAY) array = this.#array();
    else this.#take(sizeOf(kind));
    const bytes = this.#bytes.subarray(from, this.#at);
    return { key, bytes, text, length: array?.length, longest: array?.longest ?? 0 };
  }

  /** The format allows arrays of arrays, but no model has them: they could nest to any depth. */
  #array(): { readonly length: number; readonly longest: number } {
    const kind = this.#u32();
    const length = this.#length(MAX_VALUES);
    let longest = 0;
    if (kind === STRING)
      for (let i = 0; i < length; i += 1) {
        const size = this.#length(MAX_METADATA_BYTES);
        this.#take(size);
        longest = Math.max(longest, size);
      }
    else this.#take(sizeOf(kind) * length);
    return { length, longest };
  }

  #string(max: number): string {
    const length = this.#length(max);
    const from = this.#take(length);
    return Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + from, length).toString('utf8');
  }

  #u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  #length(max: number): number {
    const at = this.#take(8);
    // Exact for all accepted values: more than 53 bits is too large anyway. A BigInt for each token would be slow.
    const length = this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 2 ** 32;
    if (length > max) throw unusable('has a length above the limit');
    return length;
  }

  #take(size: number): number {
    const at = this.#at;
    if (at + size > this.#bytes.length) throw new TooShort();
    this.#at += size;
    return at;
  }
}

function sizeOf(kind: number): number {
  const size = SIZES[kind];
  if (size === undefined) throw unusable(`has a value of type ${kind}, which is not supported`);
  return size;
}
