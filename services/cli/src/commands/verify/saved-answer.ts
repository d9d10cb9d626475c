// Answers kept in files: their bytes, and the headers that were saved beside them.
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileError } from '../../errors.ts';
import { CommandError } from '../../output.ts';

/** No answer is larger; a file that is, or a device without an end, is not read to its end. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What of the response's headers takes part in verification. */
export interface SavedHeaders {
  /** `Stack-Provenance` as sent. */
  readonly provenance?: string;
  /** `Content-Type` as sent. */
  readonly contentType?: string;
}

/** Bytes of a file, or of standard input for `-`. Throws CommandError (exit code 2) that says what is wrong. */
export async function readAnswerFile(file: string, stdin: Readable): Promise<Uint8Array> {
  const input: Readable = file === '-' ? stdin : createReadStream(file);
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of input) {
      sizeBytes += (chunk as Uint8Array).length;
      if (sizeBytes > MAX_BYTES) break;
      chunks.push(chunk as Uint8Array);
    }
  } catch (cause) {
    throw fileError(file, cause, 'a URL begins with http:// or https://');
  }
  if (sizeBytes > MAX_BYTES) {
    throw new CommandError(`'${file}' is larger than ${MAX_BYTES / 1024 / 1024} MiB: no answer is`, { exitCode: 2 });
  }
  return Buffer.concat(chunks);
}

/**
 * Reads what was saved for `--provenance`: the headers as `curl -D` writes them, of which the last response counts, or
 * the JSON of `Stack-Provenance` alone. Throws CommandError (exit code 2) for anything else.
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
  if (start < 0 && provenances.length === 0) {
    throw new CommandError(`'${file}' holds neither the headers of an answer nor the JSON of Stack-Provenance`, {
      exitCode: 2,
    });
  }
  if (provenances.length > 1 || contentTypes.length > 1) {
    throw new CommandError(`'${file}' has Stack-Provenance or Content-Type twice`, { exitCode: 2 });
  }
  const [provenance] = provenances;
  const [contentType] = contentTypes;
  return { ...(provenance !== undefined && { provenance }), ...(contentType !== undefined && { contentType }) };
}
