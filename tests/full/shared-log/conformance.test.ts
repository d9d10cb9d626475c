// A log in a database does what one on disk does.
import { logConformance } from '../../../packages/log/src/test/conformance.ts';
import { postgres } from '../../../packages/store/src/test/places.ts';
import { openNode } from '../../support/shared-log/database.ts';

logConformance({
  ...{ name: 'in a database', skip: postgres.skip },
  async fresh() {
    const url = await postgres.fresh();
    return { open: () => openNode(url), [Symbol.asyncDispose]: async () => {} };
  },
});
