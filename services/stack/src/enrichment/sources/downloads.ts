// Downloads archives into the data directory, and resumes interrupted downloads.
import { stat } from 'node:fs/promises';
import { type SourceDeps, SourceError } from '../source.ts';
import { DEFAULT_TIMEOUTS, nameOf, retry } from './polite-get.ts';

/** Throws SourceError if all tries fail, and if the signal aborts. A partial download is resumed. */
export async function download(
  url: string,
  file: string,
  { maxBytes, timeoutMs = Infinity }: { readonly maxBytes: number; readonly timeoutMs?: number },
  deps: SourceDeps,
): Promise<void> {
  const { fetcher, signal, timeouts = DEFAULT_TIMEOUTS } = deps;
  const limits = { maxBytes, timeoutMs: Math.min(timeoutMs, timeouts.downloadMs) };
  await retry(url, deps, async () => {
    const got = await fetcher.download(url, file, { ...limits, signal });
    if (got.kind === 'downloaded') return { good: got };
    // The time limit was already generous: no retry.
    if (got.kind === 'failed' && got.reason === 'timeout') throw new SourceError(`${nameOf(url)} took too long`);
    return { failure: got };
  });
}

export const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
