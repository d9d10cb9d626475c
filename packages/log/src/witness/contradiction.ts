// Detects lost leaves and forks of the log from the responses of a witness.
import { setTimeout as delay } from 'node:timers/promises';
import { type Checkpoint, equalBytes, noteVerifier, openNote, parseCheckpoint, treeRoot } from '@strata/receipts';
import type { Log } from '../log.ts';
import { LogError } from '../log-error.ts';
import { ServedTiles } from '../publication/served-tiles.ts';
import type { CosignOutcome, WitnessClient } from './witness-client.ts';

export interface JudgedLog {
  readonly log: Pick<Log, 'size' | 'read'>;
  readonly origin: string;
  /** Keys of the log's checkpoints, current and retired: 32 bytes each. */
  readonly publicKeys: () => readonly Uint8Array[];
}

const POLL_MS = 50;

/** Based on the witness's claim alone: enough to refuse a start, since the operator can remove the witness from the settings. */
export async function claimedContradiction(
  { name }: Pick<WitnessClient, 'name'>,
  outcome: CosignOutcome,
  { log, origin, followMs }: JudgedLog & { readonly followMs: number },
): Promise<LogError | undefined> {
  if (outcome.kind === 'forked') return forked(name, origin, outcome.size);
  if (outcome.kind !== 'ahead' || (await reaches(log, outcome.size, followMs))) return undefined;
  return lostLeaves(name, origin, { cosigned: outcome.size, size: log.size });
}

/** The latest checkpoint of a witness with a valid signature of the log; undefined if it serves none. */
export async function signedCheckpoint(
  client: Pick<WitnessClient, 'latest'>,
  { origin, publicKeys }: Pick<JudgedLog, 'origin' | 'publicKeys'>,
): Promise<Checkpoint | undefined> {
  const opened = await openNote(
    (await client.latest(origin)) ?? '',
    publicKeys().map((key) => noteVerifier(origin, key)),
  );
  const checkpoint = opened.ok ? parseCheckpoint(opened.text) : undefined;
  return checkpoint?.origin === origin ? checkpoint : undefined;
}

/** Based on a signed checkpoint that the log is inconsistent with: enough to stop appends, as long as the inconsistency lasts. */
export async function provenContradiction(
  { name }: Pick<WitnessClient, 'name'>,
  { size, root }: Checkpoint,
  { log, origin, followMs }: JudgedLog & { readonly followMs: number },
): Promise<LogError | undefined> {
  if (!(await reaches(log, size, followMs))) return lostLeaves(name, origin, { cosigned: size, size: log.size });
  const { hashes } = new ServedTiles((path) => log.read(path), size);
  return equalBytes(await treeRoot(hashes, size), root) ? undefined : forked(name, origin, size);
}

/** Waits until this node has read leaves that other nodes appended, at most `followMs`. */
async function reaches(log: JudgedLog['log'], size: number, followMs: number): Promise<boolean> {
  for (const deadline = performance.now() + followMs; log.size < size; await delay(POLL_MS))
    if (performance.now() >= deadline) return false;
  return true;
}

const lostLeaves = (
  name: string,
  origin: string,
  { cosigned, size }: { readonly cosigned: number; readonly size: number },
): LogError =>
  new LogError(
    'lost-leaves',
    `the witness ${name} has cosigned ${cosigned} leaves of the log ${origin}, but there are ${size}`,
  );

const forked = (name: string, origin: string, size: number): LogError =>
  new LogError('forked', `the witness ${name} has cosigned another tree of ${size} leaves of the log ${origin}`);
