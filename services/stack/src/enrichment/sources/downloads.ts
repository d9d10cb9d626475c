// Archives of publishers: fetched into the data directory, gone on with after a stop.
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { type SourceDeps, SourceError } from '../source.ts';
import { askUntil, nameOf, PATIENCE } from './polite-get.ts';

/** Throws SourceError when it cannot be had after all tries, and when the signal aborts. What was cut off is gone on with. */
export async function download(
  url: string,
  file: string,
  { maxBytes, timeoutMs = Infinity }: { readonly maxBytes: number; readonly timeoutMs?: number },
  deps: SourceDeps,
): Promise<void> {
  const { fetcher, signal, patience = PATIENCE } = deps;
  const limits = { maxBytes, timeoutMs: Math.min(timeoutMs, patience.downloadMs) };
  await mkdir(path.dirname(file), { recursive: true });
  await askUntil(url, deps, async () => {
    const got = await fetcher.download(url, file, { ...limits, signal });
    if (got.kind === 'downloaded') return { good: got };
    // It was waited for long enough already.
    if (got.kind === 'failed' && got.reason === 'timeout') throw new SourceError(`${nameOf(url)} took too long`);
    return { trouble: got };
  });
}

export const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
