// Archives of publishers: fetched into the data directory, gone on with after a stop.
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { nameOf } from './polite-get.ts';
import { SourceError, type SourceParts } from './source.ts';

/** Throws SourceError when it cannot be had, and when the signal aborts. */
export async function download(
  url: string,
  file: string,
  limits: { readonly maxBytes: number; readonly timeoutMs: number },
  { fetcher, signal }: SourceParts,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const got = await fetcher.download(url, file, { ...limits, signal });
  signal.throwIfAborted();
  if (got.kind === 'failed') throw new SourceError(`${nameOf(url)} cannot be had: ${got.detail}`);
  if (got.kind === 'answered') throw new SourceError(`${nameOf(url)} answered ${got.status}`);
}

export const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
