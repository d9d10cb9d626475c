// A node that appends until it is killed or has so many acknowledged, and tells each line by line: `ack <number> <index>`,
// `checkpoint <base64>`. Arguments: address of the database, number of the first leaf, how many, how many at once.
import { writeSync } from 'node:fs';
import { leafOf } from '../../../packages/log/src/test/fixture.ts';
import { openNode } from './database.ts';

const [url = '', first = '0', count = '0', concurrency = '64'] = process.argv.slice(2);
await using log = await openNode(url);
let number = Number(first);
const end = number + Number(count);
/** Written in place, not through a stream: a line that is out was not lost in this process's memory. A full pipe is tried again. */
function tell(line: string): void {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

async function append(): Promise<void> {
  while (number < end) {
    const mine = number++;
    const { index } = await log.append(leafOf(mine));
    tell(`ack ${mine} ${index}`);
    if (mine % 50 === 0) tell(`checkpoint ${Buffer.from(log.checkpoint()).toString('base64')}`);
  }
}
await Promise.all(Array.from({ length: Number(concurrency) }, append));
