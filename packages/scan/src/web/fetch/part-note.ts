// The note of a partial download: the identity of its document, and from where it can be resumed.
import type { PartFile } from '@strata/files';

export interface PartNote {
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly totalBytes: number | null;
}

export interface ResumablePart extends PartNote {
  readonly doneBytes: number;
  /** For `If-Range`: a strong ETag, or else Last-Modified (RFC 9110 §13.1.5). */
  readonly validator: string;
}

const MAX_VALIDATOR_LENGTH = 1_024;

/** The partial file of `url`, if it can be resumed. */
export function resumable({ note, sizeBytes }: PartFile<PartNote>, url: string): ResumablePart | undefined {
  if (note === undefined || note.url !== url) return undefined;
  const validator = validatorOf(note);
  const { totalBytes } = note;
  if (validator === undefined || (totalBytes !== null && sizeBytes > totalBytes)) return undefined;
  // Of a complete partial file the last byte is requested again, to verify that the document is unchanged.
  const doneBytes = sizeBytes === totalBytes ? sizeBytes - 1 : sizeBytes;
  return doneBytes > 0 ? { ...note, doneBytes, validator } : undefined;
}

/** A validator that is too long is not recorded. */
export function boundedValidator(validator: string | undefined): string | null {
  return validator !== undefined && validator.length <= MAX_VALIDATOR_LENGTH ? validator : null;
}

export function readPartNote(json: unknown): PartNote | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const { url, etag, lastModified, totalBytes } = json as Record<string, unknown>;
  const isNote =
    typeof url === 'string' &&
    (etag === null || typeof etag === 'string') &&
    (lastModified === null || typeof lastModified === 'string') &&
    (totalBytes === null || (Number.isSafeInteger(totalBytes) && (totalBytes as number) >= 0));
  return isNote ? (json as PartNote) : undefined;
}

function validatorOf({ etag, lastModified }: PartNote): string | undefined {
  return etag !== null && /^"[^"]*"$/.test(etag) ? etag : (lastModified ?? undefined);
}
