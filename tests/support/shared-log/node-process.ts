// A node that appends until it is killed or has so many acknowledged, and prints each as a line: `ack <number> <index>`,
// `checkpoint <base64>`. Arguments: address of the database, number of the first leaf, how many, how many at once.
import { leafOf } from '../../../packages/log/src/test/fixture.ts';
import { printLine } from '../print-line.ts';
import { openNode } from './database.ts';

const [url = '', first = '0', count = '0', concurrency = '64'] = process.argv.slice(2);
await using log = await openNode(url);
let number = Number(first);
const end = number + Number(count);

async function append(): Promise<void> {
  while (number < end) {
    const mine = number++;
    const { index } = await log.append(leafOf(mine));
    printLine(`ack ${mine} ${index}`);
    if (mine % 50 === 0) printLine(`checkpoint ${Buffer.from(log.checkpoint()).toString('base64')}`);
  }
}
await Promise.all(Array.from({ length: Number(concurrency) }, append));
