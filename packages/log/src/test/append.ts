// A process that appends leaves. `full`: under a file-size limit, until that fails, and again; prints what happened
// as JSON. `killed`: as fast as it can, and prints `ack <number> <index>` or `checkpoint <base64>` for each.
// Arguments: `full` or `killed`, directory, number of the first leaf.

import { StoreError } from '@strata/db';
import { printLine } from '../../../../tests/support/print-line.ts';
import { leafOf } from './fixture.ts';
import { openIn } from './log-on-disk.ts';

const [until, directory = '', firstNumber = '0'] = process.argv.slice(2);
const log = await openIn(directory);
let number = Number(firstNumber);

async function appendForever(): Promise<void> {
  for (;;) {
    const mine = number++;
    const { index } = await log.append(leafOf(mine));
    printLine(`ack ${mine} ${index}`);
    if (mine % 100 === 0) printLine(`checkpoint ${Buffer.from(log.checkpoint()).toString('base64')}`);
  }
}

/** Appends a batch; the code of its first error, if any. */
async function appendBatch(): Promise<string> {
  const batch = Array.from({ length: 50 }, (_, at) => log.append(leafOf(number + at)));
  const results = await Promise.allSettled(batch);
  number += results.filter(({ status }) => status === 'fulfilled').length;
  const [error] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  return error instanceof StoreError ? error.code : String(error ?? '');
}

if (until === 'killed') await Promise.all(Array.from({ length: 64 }, appendForever));
let code = '';
while (code === '') code = await appendBatch();
const again = await appendBatch();
const sizeAfter = log.size;
await log[Symbol.asyncDispose]();
printLine(JSON.stringify({ acknowledged: number, code, again, sizeAfter }));
