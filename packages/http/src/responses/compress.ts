// Compresses each response once, on first demand, and caches the result with the plain bytes.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { weightsIn } from './accept-weights.ts';
import type { ReadyAnswer } from './answer-cache.ts';

export type Encoding = 'br' | 'gzip';

/** Shorter bodies fit into one packet uncompressed. */
export const COMPRESS_FROM_BYTES = 1_400;

const brotli = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
/** Above this level brotli takes several times as long for a few per cent. */
const BROTLI_QUALITY = 5;

/** The bytes, or their pending computation: concurrent requests share one compression. */
type Encoded = Partial<Record<Encoding, Buffer | Promise<Buffer>>>;

/** Released together with the response. */
const encodedAnswers = new WeakMap<ReadyAnswer, Encoded>();
/** There are few different Accept-Encoding values, each repeated often. */
const choices = new LRUCache<string, Encoding | 'identity'>({ max: 200 });

/** The encoding for this Accept-Encoding, or undefined for the plain bytes (RFC 9110, 12.5.3). */
export function encodingFor(acceptEncoding: string | string[] | undefined, answer: ReadyAnswer): Encoding | undefined {
  if (typeof acceptEncoding !== 'string' || answer.bytes.length < COMPRESS_FROM_BYTES) return undefined;
  let choice = choices.get(acceptEncoding);
  if (choice === undefined) {
    choice = chooseEncoding(acceptEncoding);
    choices.set(acceptEncoding, choice);
  }
  return choice === 'identity' ? undefined : choice;
}

/** The bytes if they are already compressed. */
export function encodedNow(answer: ReadyAnswer, encoding: Encoding): Buffer | undefined {
  const known = encodedAnswers.get(answer)?.[encoding];
  return Buffer.isBuffer(known) ? known : undefined;
}

/** The compressed bytes; all callers share the same buffer. */
export async function encodedBytes(answer: ReadyAnswer, encoding: Encoding): Promise<Buffer> {
  const encoded = encodedAnswers.get(answer) ?? {};
  encodedAnswers.set(answer, encoded);
  const bytes = encoded[encoding] ?? encode(answer.bytes, encoding);
  encoded[encoding] = bytes;
  try {
    encoded[encoding] = await bytes;
  } catch (error) {
    delete encoded[encoding];
    throw error;
  }
  return bytes;
}

function encode(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipAsync(bytes);
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return brotli(bytes, { params });
}

/** Each representation has its own validator (RFC 9110, 8.8.3). */
export function etagFor(etag: string, encoding: Encoding | undefined): string {
  return encoding === undefined ? etag : `${etag.slice(0, -1)}-${encoding}"`;
}

function chooseEncoding(header: string): Encoding | 'identity' {
  const weights = weightsIn(header.slice(0, 500));
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const [br, gz] = [weightOf('br'), weightOf('gzip')];
  if (br > 0 && br >= gz) return 'br';
  return gz > 0 ? 'gzip' : 'identity';
}
