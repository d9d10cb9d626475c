// Whether the data directory can be written, how quickly what is written is safe, and how much still fits.
import { open, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { networkFileSystemOf } from '@strata/db';
import { bytes, type Finding, ok, problem, warning } from './finding.ts';

const GIB = 1_024 ** 3;
/** Below the first the next hours may fill it, below the second the next days. */
const LEAST_FREE_BYTES = GIB / 4;
const SCANT_FREE_BYTES = 2 * GIB;
/** A receipt waits for this: beyond, each new answer is felt to wait. */
const SLOW_SYNC_MS = 30;
const SYNCS = 9;

export interface DiskFacts {
  readonly freeBytes: number;
  /** Median of nine writes of 4 KiB with fdatasync. */
  readonly syncMs: number;
}

export async function checkDisk(directory: string): Promise<Finding> {
  const check = 'data directory';
  try {
    return judgeDisk(directory, await measure(await nearestExisting(path.resolve(directory))));
  } catch (error) {
    return problem(check, {
      found: `${directory} cannot be written: ${(error as Error).message}`,
      means: 'The service cannot start: database, keys and ledger are there.',
      todo: 'Give the service’s user the directory (chown), mount it writable, or name another with STRATA_DATA.',
    });
  }
}

export function judgeDisk(directory: string, { freeBytes, syncMs }: DiskFacts): Finding {
  const check = 'data directory';
  const found = `${bytes(freeBytes)} free in ${directory}, a write is safe after ${syncMs.toFixed(1)} ms`;
  if (freeBytes < LEAST_FREE_BYTES)
    return problem(check, {
      found,
      means: 'When it is full nothing is recorded and no receipt can be given out.',
      todo: 'Free space or enlarge the disk now.',
    });
  if (freeBytes < SCANT_FREE_BYTES)
    return warning(check, {
      found,
      means: 'History and ledger only grow; a model is several GiB.',
      todo: 'Enlarge the disk soon, and watch it (alert StrataDiskNearlyFull).',
    });
  if (syncMs > SLOW_SYNC_MS)
    return warning(check, {
      found,
      means: 'Every new answer waits for the ledger’s write.',
      todo: 'Put STRATA_DATA on a local SSD, not on network storage or a spinning disk.',
    });
  return ok(check, found);
}

/** Whether the locks of the directory hold between machines. */
export function checkFileSystem(directory: string, network = networkFileSystemOf(directory)): Finding {
  const check = 'file system';
  if (network === undefined) return ok(check, `${directory} is not on a network file system`);
  return warning(check, {
    found: `${directory} is on ${network}`,
    means: 'Its locks may not hold between machines: a second service on it could fork the ledger.',
    todo: 'Put STRATA_DATA on a local disk, or on a volume that one machine mounts.',
  });
}

/** The first start makes what is missing below it. */
async function nearestExisting(directory: string): Promise<string> {
  for (let place = directory; ; place = path.dirname(place))
    if ((await stat(place).catch(() => undefined)) || place === path.dirname(place)) return place;
}

async function measure(directory: string): Promise<DiskFacts> {
  const file = path.join(directory, `.doctor-${process.pid}`);
  const block = Buffer.alloc(4_096, 1);
  const times: number[] = [];
  const handle = await open(file, 'wx', 0o600);
  try {
    for (let turn = 0; turn < SYNCS; turn++) {
      const startedAt = performance.now();
      await handle.write(block);
      await handle.datasync();
      times.push(performance.now() - startedAt);
    }
  } finally {
    await handle.close();
    await rm(file, { force: true });
  }
  const { bavail, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize, syncMs: times.sort((a, b) => a - b)[Math.floor(SYNCS / 2)] ?? 0 };
}
