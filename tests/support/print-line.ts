// Lines of a process under test that are not lost when it is killed.
import { writeSync } from 'node:fs';

/** Writes a line to standard output without a stream: it never waits in this process's memory. A full pipe is tried again. */
export function printLine(line: string): void {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}
