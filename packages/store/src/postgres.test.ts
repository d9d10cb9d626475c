// The store on PostgreSQL.
import { after, describe } from 'node:test';
import { openStore } from './index.ts';
import { storeConformance } from './test/conformance.ts';
import { binaries, notice, startPostgres } from './test/postgres.ts';

describe('PostgreSQL', { skip: binaries ? false : notice }, async () => {
  const server = await startPostgres();
  after(() => server[Symbol.asyncDispose]());
  storeConformance('PostgreSQL', async () => openStore(await server.fresh()));
});
