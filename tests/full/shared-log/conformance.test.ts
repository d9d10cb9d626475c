// A log in a database does what one on disk does.
import { after } from 'node:test';
import { logConformance } from '../../../packages/log/src/test/conformance.ts';
import { binaries, notice, type PostgresServer, startPostgres } from '../../../packages/store/src/test/postgres.ts';
import { openNode } from '../../support/shared-log/database.ts';

let server: Promise<PostgresServer> | undefined;
after(async () => (await server)?.[Symbol.asyncDispose]());

logConformance({
  name: 'in a database',
  skip: binaries ? false : notice,
  async fresh() {
    server ??= startPostgres();
    const url = await (await server).fresh();
    return { open: () => openNode(url), [Symbol.asyncDispose]: async () => {} };
  },
});
