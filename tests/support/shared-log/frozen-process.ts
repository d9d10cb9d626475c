// A node that stands still in the midst of its turn: it stops itself when it signs its second checkpoint of a leaf, as SIGSTOP does, and
// goes on when it is woken. Says where its leaf came to stand.
import { openSharedLog } from '@strata/log';
import { leafOf, ORIGIN } from '../../../packages/log/src/test/fixture.ts';
import { keysOf, openPlace } from './database.ts';

const [url = ''] = process.argv.slice(2);
const keys = keysOf(2);
const { signer } = keys;
let isFreezing = false;
await using place = await openPlace(url);
await using log = await openSharedLog({
  origin: ORIGIN,
  place,
  keys: {
    ...keys,
    publicKeys: () => keys.publicKeys(),
    reload: async () => false,
    signer: {
      publicKey: signer.publicKey,
      sign(bytes) {
        if (isFreezing) {
          isFreezing = false;
          process.stdout.write('frozen\n');
          process.kill(process.pid, 'SIGSTOP');
        }
        return signer.sign(bytes);
      },
    },
  },
});
await log.append(leafOf(1_000));
isFreezing = true;
const { index } = await log.append(leafOf(1_001));
process.stdout.write(`placed ${index}\n`);
