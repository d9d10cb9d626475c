// A process under a file-size limit: appends until that fails, tries again, and prints what happened as JSON.
import { LogError, openLog } from '../index.ts';
import { leafOf, ORIGIN, testSigner } from './fixture.ts';

const [directory = ''] = process.argv.slice(2);
const log = await openLog({ directory, origin: ORIGIN, signer: testSigner() });
let acknowledged = 0;

/** Appends a batch; the code of its first error, if any. */
async function appendBatch(): Promise<string> {
  const batch = Array.from({ length: 50 }, (_, at) => log.append(leafOf(acknowledged + at)));
  const results = await Promise.allSettled(batch);
  acknowledged += results.filter(({ status }) => status === 'fulfilled').length;
  const [error] = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  return error instanceof LogError ? error.code : String(error ?? '');
}

let code = '';
while (code === '') code = await appendBatch();
const again = await appendBatch();
const sizeAfter = log.size;
await log[Symbol.asyncDispose]();
console.log(JSON.stringify({ acknowledged, code, again, sizeAfter }));
