// A process that appends as fast as it can and tells what was acknowledged, until it is killed.
// Arguments: directory, number of the first leaf. Each line out: `ack <number> <index>` or `checkpoint <base64>`.
import { writeSync } from 'node:fs';
import { openLog } from '../index.ts';
import { leafOf, ORIGIN, testSigner } from './fixture.ts';

const [directory = '', firstNumber = '0'] = process.argv.slice(2);
const log = await openLog({ directory, origin: ORIGIN, signer: testSigner() });
let number = Number(firstNumber);
// Written in place, not through a stream: a line that is out was not lost in this process's memory.
const tell = (line: string): number => writeSync(1, `${line}\n`);

async function appendForever(): Promise<void> {
  for (;;) {
    const mine = number++;
    const { index } = await log.append(leafOf(mine));
    tell(`ack ${mine} ${index}`);
    if (mine % 100 === 0) tell(`checkpoint ${Buffer.from(log.checkpoint()).toString('base64')}`);
  }
}
await Promise.all(Array.from({ length: 64 }, appendForever));
