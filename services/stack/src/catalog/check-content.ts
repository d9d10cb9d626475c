// Checks the content of a release as `strata catalog lint` and `test` do: about a second of processor time.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { compileRulebook, exampleProblems, patternProblems } from '@strata/detect';
import { listed, readContent } from './catalog.ts';

export type CheckedContent = { readonly providers: number } | { readonly problem: string };

const CHECK_TIMEOUT_MS = 60_000;
const MAX_HEAP_MIB = 1_024;

/** Schema, unique names and patterns, labels, ranges; then each pattern alone, and the examples. */
export function checkContent(json: string): CheckedContent {
  const content = readContent(json);
  if ('problem' in content) return content;
  const { providers } = content;
  const rulebook = compileRulebook(providers);
  const problems = [...patternProblems(providers, rulebook), ...exampleProblems(providers, rulebook)];
  return problems.length > 0 ? { problem: listed(problems) } : { providers: providers.length };
}

/** The same in a thread of its own, while this one serves requests. Rejects if the thread fails, takes a minute, or `signal` aborts. */
export async function checkInThread(json: string, signal?: AbortSignal): Promise<CheckedContent> {
  const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const thread = new Worker(new URL('check-content-thread.ts', import.meta.url), {
    workerData: json,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  try {
    const [checked] = await once(thread, 'message', { signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    return checked;
  } finally {
    await thread.terminate();
  }
}
