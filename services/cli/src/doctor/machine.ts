// Checks the limit of open files and the memory.
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { bytes, type Finding, ok, problem, warning } from './finding.ts';

export interface MachineFacts {
  /** Undefined where the system does not report it. */
  readonly openFiles: number | undefined;
  /** Memory of the machine, or the limit of the process where it is lower. */
  readonly memoryBytes: number;
  readonly heapBytes: number;
}

const MIB = 1_024 ** 2;
/** Sockets of scans, connections, and the database's files. */
const MIN_FILES = 1_024;
/** Each event stream needs one; the maximum is 20,000. */
const RECOMMENDED_FILES = 16_384;
/** bench/RESULTS.md: 346 MiB with 20,000 domains, 1,048 MiB with a million and 250,000 advisories. */
const BASE_BYTES = 400 * MIB;
const BYTES_PER_DOMAIN = 700;

export async function readMachine(): Promise<MachineFacts> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const openFiles = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  const limitBytes = process.constrainedMemory();
  return {
    openFiles: openFiles === undefined ? undefined : Number(openFiles),
    memoryBytes: limitBytes > 0 ? Math.min(limitBytes, totalmem()) : totalmem(),
    heapBytes: getHeapStatistics().heap_size_limit,
  };
}

export function judgeOpenFiles({ openFiles }: Pick<MachineFacts, 'openFiles'>): Finding {
  const check = 'open files';
  const todo = 'Raise the limit: LimitNOFILE=65536 (systemd), ulimits (compose), ulimit -n.';
  if (openFiles === undefined) return ok(check, 'limit unknown on this system');
  if (openFiles < MIN_FILES)
    return problem(check, {
      found: `at most ${openFiles}`,
      means: 'Scans and requests fail when the limit is reached.',
      todo,
    });
  if (openFiles < RECOMMENDED_FILES)
    return warning(check, {
      found: `at most ${openFiles}`,
      means: 'Each connection and event stream uses one file; the service supports 20,000 streams.',
      todo,
    });
  return ok(check, `at most ${openFiles}`);
}

export function judgeMemory({ memoryBytes, heapBytes }: Omit<MachineFacts, 'openFiles'>, domains: number): Finding {
  const check = 'memory';
  const needed = BASE_BYTES + domains * BYTES_PER_DOMAIN;
  const found = `${bytes(memoryBytes)}, heap limit ${bytes(heapBytes)}; ${domains} domains need about ${bytes(needed)}`;
  if (memoryBytes < needed)
    return problem(check, {
      found,
      means: 'The system may kill the process.',
      todo: 'Add memory, or reduce the number of domains.',
    });
  if (memoryBytes < needed * 1.5 || heapBytes < needed / 2)
    return warning(check, {
      found,
      means: 'Advisory syncs and large answers temporarily need more.',
      todo: 'Add memory; if the heap limit is too low, set NODE_OPTIONS=--max-old-space-size=….',
    });
  return ok(check, found);
}
