// `strata log publish`: copies a log to a folder that any file server can serve, once or at an interval.
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchBounded } from '@strata/client';
import { LogError, publishLog } from '@strata/log';
import { encodeBase64, type NoteVerifier } from '@strata/receipts';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { runInterruptible } from '../../interruption.ts';
import { verifierKey } from '../../option-parsers.ts';
import { type OutputOptions, plainText, printJson } from '../../output.ts';
import { startCounter } from '../../progress.ts';

export interface LogPublishOptions extends OutputOptions {
  /** Verifier keys of the log; all have the same name. */
  readonly ledgerKey: readonly string[];
  /** Seconds between two runs; without it, one run. */
  readonly every?: number;
}

/** An entry bundle of 256 leaves of 64 KiB. */
const MAX_TILE_BYTES = 256 * 65_537;

/** Copies the log at `url`, the prefix of its paths such as `https://strata.example/ledger`. */
export async function logPublishCommand(
  context: CommandContext,
  { url, directory }: { readonly url: string; readonly directory: string },
  { ledgerKey, every, json = false }: LogPublishOptions,
): Promise<void> {
  const verifiers = verifiersOf(ledgerKey);
  await runInterruptible(context, { state: 'run the same command again to continue' }, async (signal) => {
    for (;;) {
      const counter = startCounter('copied', 'tiles', context.stderr);
      const onProgress = (done: number, total: number) => counter.set(done, total);
      const origin = verifiers[0]?.name ?? '';
      const run = publishLog({ read: readerOf(url, signal), directory, origin, verifiers, onProgress, signal });
      const copied = await run
        .finally(() => counter.stop())
        .catch((error: unknown) => retryLater(error, context, every));
      if (copied && json) printJson(context.stdout, { ...copied, root: encodeBase64(copied.root) });
      else if (copied) context.stdout.write(`${copied.size} leaves in ${directory}, ${copied.added} new\n`);
      if (every === undefined) return;
      await sleep(every * 1_000, undefined, { signal });
    }
  });
}

/** With an interval, an I/O error is retried; lost leaves and a fork are not. */
function retryLater(error: unknown, { stderr }: CommandContext, every: number | undefined): undefined {
  if (every === undefined || !(error instanceof LogError) || error.code !== 'io') throw error;
  stderr.write(`strata: ${plainText(error.message)}; retrying\n`);
}

const readerOf = (url: string, signal: AbortSignal) => async (path: string) => {
  const prefix = url.endsWith('/') ? url : `${url}/`;
  const options = { fetch: globalThis.fetch, maxBytes: MAX_TILE_BYTES, signal };
  const fetched = await fetchBounded(new URL(prefix + path), options);
  if (!fetched.ok) throw new LogError('io', fetched.problem, { cause: fetched.cause });
  if (fetched.status === 404) return undefined;
  if (fetched.status !== 200) throw new LogError('io', `${prefix}${path} returned status ${fetched.status}`);
  return fetched.content;
};

function verifiersOf(keys: readonly string[]): readonly NoteVerifier[] {
  const verifiers = keys.map(verifierKey);
  if (new Set(verifiers.map(({ name }) => name)).size > 1) throw usageError('--ledger-key has keys of different logs');
  return verifiers;
}
