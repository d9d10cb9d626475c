// Small GGUF files for tests, entry by entry: a real model's with some entries changed, and invalid ones.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { shared, temporaryDirectory } from '../../../../tests/support/index.ts';
import { type MetadataEntry, readMetadata } from '../vocabulary/gguf-metadata.ts';

export const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
export const u64 = (value: number | bigint) => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
export const text = (value: string) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);

const directory = shared(temporaryDirectory);

/** Writes the bytes to a file, which is removed after the last test; returns its path. */
export async function written(bytes: Uint8Array): Promise<string> {
  const file = path.join((await directory()).path, `${randomUUID()}.gguf`);
  await writeFile(file, bytes);
  return file;
}

/** Key and text as a metadata entry. */
export const textEntry = (key: string, value: string) => Buffer.concat([text(key), u32(8), text(value)]);

/** A file of these entries without tensors. */
export function ggufOf(entries: readonly Uint8Array[], more: { version?: number; count?: number | bigint } = {}) {
  const { version = 3, count = entries.length } = more;
  return Buffer.concat([Buffer.from('GGUF'), u32(version), u64(0), u64(count), ...entries]);
}

/** The metadata of a model file with these texts replaced or added. */
export async function ggufWith(file: string, texts: Readonly<Record<string, string>>): Promise<Buffer> {
  const kept = (await readMetadata(file)).filter(({ key }: MetadataEntry) => !(key in texts));
  const given = Object.entries(texts).map(([key, value]) => textEntry(key, value));
  return ggufOf([...kept.map(({ bytes }) => bytes), ...given]);
}
