// A process under a file-size limit: appends until that fails, tries again, and tells what happened as JSON.
import { LogError, openLog } from '../index.ts';
import { leafOf, ORIGIN, testSigner } from './fixture.ts';

const [directory = ''] = process.argv.slice(2);
const log = await openLog({ directory, origin: ORIGIN, signer: testSigner() });
const codeOf = (error: unknown): string => (error instanceof LogError ? error.code : String(error));

let acknowledged = 0;
let code = '';
while (code === '') {
  const batch = Array.from({ length: 50 }, (_, at) => log.append(leafOf(acknowledged + at)));
  const results = await Promise.allSettled(batch);
  acknowledged += results.filter(({ status }) => status === 'fulfilled').length;
  const refused = results.find((result) => result.status === 'rejected');
  if (refused) code = codeOf(refused.reason);
}
const again = await Promise.all(Array.from({ length: 50 }, (_, at) => log.append(leafOf(acknowledged + at)))).then(
  () => '',
  codeOf,
);
const sizeAfter = log.size;
await log[Symbol.asyncDispose]();
console.log(JSON.stringify({ acknowledged, code, again, sizeAfter }));
