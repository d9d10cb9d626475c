// A log in PostgreSQL does what one on disk does. Killed processes that write one: tests/survival/several-processes.ts.
import { logConformance } from '../../../packages/log/src/test/conformance.ts';
import { publicLogConformance } from '../../../packages/log/src/test/public-log.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { openNode } from '../../support/shared-log/database.ts';

const inDatabase = {
  ...{ name: 'in a database', skip: postgres.skip },
  async fresh() {
    const url = await postgres.fresh();
    return { open: () => openNode(url), [Symbol.asyncDispose]: async () => {} };
  },
};
logConformance(inDatabase);
publicLogConformance(inDatabase);
