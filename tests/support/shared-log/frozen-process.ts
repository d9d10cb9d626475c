// A node that stops itself, as SIGSTOP does, while it holds the lock: when it signs its second checkpoint of a leaf. It goes on when it is
// woken, and prints the index of its leaf.
import { openLog } from '@strata/log';
import { keysOf, leafOf, ORIGIN } from '../../../packages/log/src/test/fixture.ts';
import { openShared } from './database.ts';

const keys = keysOf(2);
let isFreezing = false;
const signer = {
  ...keys.signer,
  sign(bytes: Uint8Array) {
    if (isFreezing) {
      isFreezing = false;
      process.stdout.write('frozen\n');
      process.kill(process.pid, 'SIGSTOP');
    }
    return keys.signer.sign(bytes);
  },
};
await using shared = await openShared(process.argv[2] ?? '');
await using log = await openLog({ origin: ORIGIN, table: shared.log, keys: { ...keys, signer } });
await log.append(leafOf(1_000));
isFreezing = true;
const { index } = await log.append(leafOf(1_001));
process.stdout.write(`placed ${index}\n`);
