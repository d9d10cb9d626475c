// Saved answers: the bytes of a file, and the response headers that were saved with it.
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { readBounded } from '../../bounded-input.ts';
import { fileError, usageError } from '../../errors.ts';

/** No answer is larger. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The response headers that verification needs. */
export interface SavedHeaders {
  /** `Stack-Provenance` as sent. */
  readonly provenance?: string;
  /** `Content-Type` as sent. */
  readonly contentType?: string;
}

/** The bytes of a file, or of standard input for `-`. Throws CommandError (exit code 2). */
export async function readAnswerFile(file: string, stdin: Readable): Promise<Uint8Array> {
  const content = await readBounded(file === '-' ? stdin : createReadStream(file), MAX_BYTES).catch(
    (cause: unknown) => {
      throw fileError(file, cause, 'a URL starts with http:// or https://');
    },
  );
  if (content) return content;
  throw usageError(`'${file}' is larger than ${MAX_BYTES / 1024 / 1024} MiB, the maximum size of an answer`);
}

/**
 * Parses the file of `--provenance`: headers as `curl -D` writes them, of which the last response is used, or the JSON of
 * `Stack-Provenance`. Throws CommandError (exit code 2) for anything else.
 */
export function parseSavedHeaders(text: string, file: string): SavedHeaders {
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (trimmed.startsWith('{')) return { provenance: trimmed };
  const lines = trimmed.split(/\r?\n/);
  const start = lines.findLastIndex((line) => /^HTTP\/\d/i.test(line));
  const valuesOf = (name: string) =>
    lines
      .slice(start + 1)
      .filter((line) => line.toLowerCase().startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trim());
  const provenances = valuesOf('stack-provenance');
  const contentTypes = valuesOf('content-type');
  if (start < 0 && provenances.length === 0)
    throw usageError(`'${file}' contains neither response headers nor the JSON of Stack-Provenance`);
  if (provenances.length > 1 || contentTypes.length > 1)
    throw usageError(`'${file}' has more than one Stack-Provenance or Content-Type`);
  const [provenance] = provenances;
  const [contentType] = contentTypes;
  return { ...(provenance !== undefined && { provenance }), ...(contentType !== undefined && { contentType }) };
}
