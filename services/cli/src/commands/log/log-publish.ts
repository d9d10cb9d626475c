// `strata log publish`: a log copied into a folder that any file server can serve, once or again and again.
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchBounded } from '@strata/client';
import { LogError, publishLog } from '@strata/log';
import { encodeBase64, type NoteVerifier, parseVerifierKey } from '@strata/receipts';
import { type CommandContext, listenForInterruption } from '../../context.ts';
import { CommandError, type OutputOptions, plainText, printJson } from '../../output.ts';
import { startTally } from '../../progress.ts';

export interface LogPublishOptions extends OutputOptions {
  /** Verifier keys of the log, of one name. */
  readonly ledgerKey: readonly string[];
  /** Seconds between two runs; once without it. */
  readonly every?: number;
}

/** A bundle of 256 leaves of 64 KiB. */
const MAX_TILE_BYTES = 256 * 65_537;

/** Copies what the log at `url` (the prefix of its paths, such as `https://strata.example/ledger`) has, until it is interrupted. */
export async function logPublishCommand(
  context: CommandContext,
  { url, directory }: { readonly url: string; readonly directory: string },
  { ledgerKey, every, json = false }: LogPublishOptions,
): Promise<void> {
  const verifiers = verifiersOf(ledgerKey);
  const stopping = listenForInterruption(context);
  const { signal } = stopping;
  try {
    for (;;) {
      const tally = startTally('copied', 'tiles', context.stderr);
      const onProgress = (done: number, total: number) => tally.set(done, total);
      const origin = verifiers[0]?.name ?? '';
      const run = publishLog({ read: readerOf(url, signal), directory, origin, verifiers, onProgress, signal });
      const copied = await run.finally(() => tally.stop()).catch((error: unknown) => laterOr(error, context, every));
      if (copied && json) printJson(context.stdout, { ...copied, root: encodeBase64(copied.root) });
      else if (copied) context.stdout.write(`${copied.size} leaves in ${directory}, ${copied.added} of them new\n`);
      if (every === undefined) return;
      await sleep(every * 1_000, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted) throw new CommandError('interrupted: run it again, it goes on where it was', { exitCode: 130 });
    throw error;
  } finally {
    stopping.release();
  }
}

/** What may pass is tried again where the command goes on; a log that lost leaves or was forked never. */
function laterOr(error: unknown, { stderr }: CommandContext, every: number | undefined): undefined {
  if (every === undefined || !(error instanceof LogError) || error.code !== 'io') throw error;
  stderr.write(`strata: ${plainText(error.message)}; it is tried again\n`);
}

const readerOf = (url: string, signal: AbortSignal) => async (path: string) => {
  const prefix = url.endsWith('/') ? url : `${url}/`;
  const options = { fetch: globalThis.fetch, maxBytes: MAX_TILE_BYTES, signal };
  const fetched = await fetchBounded(new URL(prefix + path), options);
  if (!fetched.ok) throw new LogError('io', fetched.problem, { cause: fetched.cause });
  if (fetched.status === 404) return undefined;
  if (fetched.status !== 200) throw new LogError('io', `${prefix}${path} answers with status ${fetched.status}`);
  return fetched.content;
};

function verifiersOf(keys: readonly string[]): readonly NoteVerifier[] {
  const verifiers = keys.map((key) => {
    const verifier = parseVerifierKey(key);
    if (verifier) return verifier;
    throw new CommandError(`'${key}' is not the verifier key of a log`, { exitCode: 2 });
  });
  if (new Set(verifiers.map(({ name }) => name)).size > 1)
    throw new CommandError('the keys given are of several logs', { exitCode: 2 });
  return verifiers;
}
