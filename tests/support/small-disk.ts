// A file system of a test's own that can be filled up: in memory, where mounting is permitted.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type SmallDisk = NonNullable<ReturnType<typeof mountSmallDisk>>;

/** Undefined where this process may not mount. */
export function mountSmallDisk(megabytes: number) {
  const directory = mkdtempSync(path.join(tmpdir(), 'strata-disk-'));
  const unmount = () => execFileSync('umount', ['--lazy', directory], { stdio: 'ignore' });
  try {
    const options = `size=${megabytes}m,mode=0711`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    rmSync(directory, { recursive: true, force: true });
    return undefined;
  }
  process.once('exit', unmount);
  const ballast = path.join(directory, 'ballast');
  return {
    path: directory,
    /** Fills all remaining space. */
    fill() {
      const file = openSync(ballast, 'a');
      try {
        for (const size of [1 << 20, 1 << 12]) {
          const bytes = Buffer.alloc(size, 1);
          try {
            while (writeSync(file, bytes) === size);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    clear: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      process.off('exit', unmount);
      unmount();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
