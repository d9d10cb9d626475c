// What the answer of a witness shows of the log: that it lost leaves, or was forked.
import { setTimeout as delay } from 'node:timers/promises';
import { equalBytes, noteVerifier, openNote, parseCheckpoint, treeRoot } from '@strata/receipts';
import type { Log } from '../log.ts';
import { LogError } from '../log-error.ts';
import { ServedTiles } from '../served-tiles.ts';
import type { CosignOutcome, WitnessClient } from './witness-client.ts';

export interface JudgedLog {
  readonly log: Pick<Log, 'size' | 'read'>;
  readonly origin: string;
  /** Keys of the log's checkpoints, current and retired: 32 bytes each. */
  readonly publicKeys: () => readonly Uint8Array[];
}

/** Another node of the log may have appended what a witness has more: this one reads it within this time. */
const FOLLOW_MS = 1_000;
const LOOK_MS = 50;

/** By the word of a witness alone: enough to refuse a start, where the operator can take the witness out of the settings. */
export async function claimedContradiction(
  { name }: Pick<WitnessClient, 'name'>,
  outcome: CosignOutcome,
  { log, origin }: JudgedLog,
): Promise<LogError | undefined> {
  if (outcome.kind === 'forked') return forked(name, origin, outcome.size);
  if (outcome.kind !== 'ahead') return undefined;
  for (const deadline = performance.now() + FOLLOW_MS; log.size < outcome.size; await delay(LOOK_MS))
    if (performance.now() > deadline) return lostLeaves(name, origin, { cosigned: outcome.size, size: log.size });
  return undefined;
}

/** By a checkpoint that a witness shows with the log's own signature: it stops a log that takes leaves. */
export async function provenContradiction(
  client: Pick<WitnessClient, 'name' | 'latest'>,
  { log, origin, publicKeys }: JudgedLog,
): Promise<LogError | undefined> {
  const note = await client.latest(origin);
  const opened = await openNote(
    note ?? '',
    publicKeys().map((key) => noteVerifier(origin, key)),
  );
  const cosigned = opened.ok ? parseCheckpoint(opened.text) : undefined;
  if (cosigned?.origin !== origin) return undefined;
  const { size, root } = cosigned;
  if (size > log.size) return lostLeaves(client.name, origin, { cosigned: size, size: log.size });
  const { hashes } = new ServedTiles((path) => log.read(path), size);
  return equalBytes(await treeRoot(hashes, size), root) ? undefined : forked(client.name, origin, size);
}

const lostLeaves = (
  name: string,
  origin: string,
  { cosigned, size }: { readonly cosigned: number; readonly size: number },
): LogError =>
  new LogError(
    'lost-leaves',
    `the witness ${name} has cosigned ${cosigned} leaves of the log ${origin}, there are ${size}`,
  );

const forked = (name: string, origin: string, size: number): LogError =>
  new LogError('forked', `the witness ${name} has cosigned another tree of ${size} leaves of the log ${origin}`);
