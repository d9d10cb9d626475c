// Whether the process may open enough files, and has enough memory.
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { bytes, type Finding, ok, problem, warning } from './finding.ts';

export interface MachineFacts {
  /** Undefined where the system does not tell. */
  readonly openFiles: number | undefined;
  /** Of the machine, or less where the process is held to less. */
  readonly memoryBytes: number;
  readonly heapBytes: number;
}

const MIB = 1_024 ** 2;
/** Sockets of scans, connections, and the database's files. */
const LEAST_FILES = 1_024;
/** Event streams need one each; 20,000 are served at most. */
const AMPLE_FILES = 16_384;
/** bench/RESULTS.md: 346 MiB with 20,000 domains, 1,048 MiB with a million and 250,000 advisories. */
const BASE_BYTES = 400 * MIB;
const BYTES_A_DOMAIN = 700;

export async function readMachine(): Promise<MachineFacts> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const openFiles = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  const held = process.constrainedMemory();
  return {
    openFiles: openFiles === undefined ? undefined : Number(openFiles),
    memoryBytes: held > 0 ? Math.min(held, totalmem()) : totalmem(),
    heapBytes: getHeapStatistics().heap_size_limit,
  };
}

export function judgeOpenFiles({ openFiles }: Pick<MachineFacts, 'openFiles'>): Finding {
  const check = 'open files';
  const todo = 'Raise it: LimitNOFILE=65536 (systemd), ulimits (compose), ulimit -n.';
  if (openFiles === undefined) return ok(check, 'this system does not tell its limit');
  if (openFiles < LEAST_FILES)
    return problem(check, {
      found: `at most ${openFiles}`,
      means: 'Scans and requests would fail for want of one.',
      todo,
    });
  if (openFiles < AMPLE_FILES)
    return warning(check, {
      found: `at most ${openFiles}`,
      means: 'Each event stream and each connection needs one; 20,000 streams are served at most.',
      todo,
    });
  return ok(check, `at most ${openFiles}`);
}

export function judgeMemory({ memoryBytes, heapBytes }: Omit<MachineFacts, 'openFiles'>, domains: number): Finding {
  const check = 'memory';
  const needed = BASE_BYTES + domains * BYTES_A_DOMAIN;
  const found = `${bytes(memoryBytes)}, of which ${bytes(heapBytes)} for V8; ${domains} domains need about ${bytes(needed)}`;
  if (memoryBytes < needed)
    return problem(check, {
      found,
      means: 'The system would end the process.',
      todo: 'Give it more, or fewer domains.',
    });
  if (memoryBytes < needed * 1.5 || heapBytes < needed / 2)
    return warning(check, {
      found,
      means: 'Syncs of advisories and large answers need more for a while.',
      todo: 'Give it more; NODE_OPTIONS=--max-old-space-size=… where V8 takes too little of it.',
    });
  return ok(check, found);
}
