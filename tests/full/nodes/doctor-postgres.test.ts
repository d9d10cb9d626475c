// `strata doctor` and PostgreSQL: connections under every limit that a server knows, and poolers that break the locks of sessions.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postgres } from '../../../packages/store/src/test/places.ts';
import { startPostgres } from '../../../packages/store/src/test/postgres.ts';
import { startTransactionPooler } from '../../../packages/store/src/test/transaction-pooler.ts';
import { checkDatabase, needsOf } from '../../../services/cli/src/doctor/database.ts';
import type { Finding } from '../../../services/cli/src/doctor/finding.ts';

function told(finding: Finding, status: Finding['status'], words: RegExp): void {
  assert.equal(finding.status, status, finding.found);
  assert.match(finding.found, words);
}

describe('the database server', { skip: postgres.skip }, () => {
  it('is told short of connections by the limit that is nearest, with pools and locks counted', async () => {
    const config = { databaseConnections: 10, dataDirectory: '/' };
    assert.deepEqual(
      (['all', 'api', 'scanner', 'scheduler'] as const).map((role) => needsOf({ ...config, role }).connections),
      [14, 13, 10, 14],
    );
    await using server = await startPostgres({ max_connections: '60' });
    const url = await server.fresh();
    const look = async (connections: number, at = url) =>
      (await checkDatabase(at, { connections, needsSession: true, dataDirectory: '/' })).findings[0] as Finding;
    told(await look(14), 'ok', /postgres: empty/);
    told(await look(58), 'warning', /\d+ of 57 connections of the server are used; this process may open 58/);
    await server.sql('alter role strata connection limit 13');
    told(await look(14), 'warning', /of 13 connections that the user may open are used/);
    await server.sql('alter role strata connection limit -1');
    await using pooler = await startTransactionPooler(url);
    told(await look(14, pooler.url), 'problem', /a pooler gives each transaction another connection/);
  });
});
