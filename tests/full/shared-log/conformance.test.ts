// A log in a database does what one on disk does.
import { logConformance } from '../../../packages/log/src/test/conformance.ts';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice } from '../../../packages/store/src/test/postgres.ts';
import { openNode } from '../../support/shared-log/database.ts';

logConformance({
  name: 'in a database',
  skip: binaries ? false : notice,
  async fresh() {
    const url = await (await postgresServer()).fresh();
    return { open: () => openNode(url), [Symbol.asyncDispose]: async () => {} };
  },
});
