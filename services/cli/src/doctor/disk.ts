// Checks the data directory: writable, duration of a durable write, free space.
import { open, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { networkFileSystemOf } from '@strata/db';
import { bytes, type Finding, ok, problem, warning } from './finding.ts';

const GIB = 1_024 ** 3;
/** Less than this can be full within hours. */
const MIN_FREE_BYTES = GIB / 4;
/** Less than this can be full within days. */
const LOW_FREE_BYTES = 2 * GIB;
/** A receipt waits for a durable write. Above this, users notice the delay. */
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
      means: 'The service cannot start: it stores database, keys and ledger there.',
      todo: 'Give the directory to the user of the service (chown), mount it writable, or set STRATA_DATA to another one.',
    });
  }
}

export function judgeDisk(directory: string, { freeBytes, syncMs }: DiskFacts): Finding {
  const check = 'data directory';
  const found = `${bytes(freeBytes)} free in ${directory}, a durable write takes ${syncMs.toFixed(1)} ms`;
  if (freeBytes < MIN_FREE_BYTES)
    return problem(check, {
      found,
      means: 'When the disk is full, nothing is recorded and no receipts are issued.',
      todo: 'Free space or enlarge the disk now.',
    });
  if (freeBytes < LOW_FREE_BYTES)
    return warning(check, {
      found,
      means: 'History and ledger keep growing; a model has several GiB.',
      todo: 'Enlarge the disk soon, and monitor it (alert StrataDiskNearlyFull).',
    });
  if (syncMs > SLOW_SYNC_MS)
    return warning(check, {
      found,
      means: 'Every new answer waits for a write to the ledger.',
      todo: 'Put STRATA_DATA on a local SSD, not on network storage or a spinning disk.',
    });
  return ok(check, found);
}

/** Checks whether locks in the directory are reliable between machines. */
export function checkFileSystem(directory: string, network = networkFileSystemOf(directory)): Finding {
  const check = 'file system';
  if (network === undefined) return ok(check, `${directory} is not on a network file system`);
  return warning(check, {
    found: `${directory} is on ${network}`,
    means: 'Its locks may not be reliable between machines: a second service could fork the ledger.',
    todo: 'Put STRATA_DATA on a local disk, or on a volume that one machine mounts.',
  });
}

/** The directory, or its nearest ancestor that exists; the first start creates the rest. */
async function nearestExisting(directory: string): Promise<string> {
  for (let current = directory; ; current = path.dirname(current))
    if ((await stat(current).catch(() => undefined)) || current === path.dirname(current)) return current;
}

async function measure(directory: string): Promise<DiskFacts> {
  const file = path.join(directory, `.doctor-${process.pid}`);
  const block = Buffer.alloc(4_096, 1);
  const times: number[] = [];
  const handle = await open(file, 'wx', 0o600);
  try {
    for (let count = 0; count < SYNCS; count++) {
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
