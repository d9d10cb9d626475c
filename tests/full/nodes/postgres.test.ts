// Commands and PostgreSQL: a store and a ledger are copied to it from SQLite, and the service continues there; `strata doctor`
// counts connections under every limit of a server, and finds poolers.
import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { verifyBody } from '@strata/client';
import { checkDatabase, needsOf } from '../../../services/cli/src/doctor/database.ts';
import { runStrata } from '../../../services/cli/src/test/run-strata.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { sharedInternet, startHarness } from '../../../services/stack/src/test/index.ts';
import { connect } from '../../support/database/connections.ts';
import { startPostgres } from '../../support/database/postgres.ts';
import { startTransactionPooler } from '../../support/database/transaction-pooler.ts';
import { contentOf } from '../../support/node-answers.ts';
import type { NodeRole } from '../../support/nodes.ts';

it('the stack service on PostgreSQL goes on with what a SQLite store had, by the command that copies it', {
  skip: postgres.skip,
}, async () => {
  const internet = await sharedInternet();
  const world = { now: () => new Date('2026-03-01T00:00:00Z') };
  await using harness = await startHarness({ internet, world });
  const domains = internet.domains().slice(0, 10);
  await harness.scan(...domains);
  const key = await harness.newKey('free');
  const asked = `/stack/v1/domains/${domains[0]}`;
  const before = await harness.get(asked);
  const url = await postgres.empty();
  const env = { STRATA_DATA: harness.directory };
  const command = async (...args: string[]) => runStrata(['stack', ...args], { env, input: `${url}\n` });
  for (const name of ['migrate-store', 'migrate-log']) {
    const busy = await command(name, '-');
    assert.equal(busy.code, 1);
    assert.match(busy.stderr, /^strata: .*is held by process/m);
  }
  await harness.running[Symbol.asyncDispose]();
  // With the new address set already, the file is named.
  Object.assign(env, { STRATA_DATABASE_URL: url });
  const unnamed = await command('migrate-store', '-');
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.stderr, /not an SQLite file; specify one with --file/);
  const missing = await command('migrate-store', '-', '--file', '/none/strata.db');
  assert.match(missing.stderr, /The database file cannot be opened/);
  const file = path.join(harness.directory, 'strata.db');
  const copied = await command('migrate-store', '-', '--json', '--file', file);
  assert.equal(copied.code, 0, copied.stderr);
  Object.assign(env, { STRATA_DATABASE_URL: undefined });
  const tables = JSON.parse(copied.stdout) as readonly { readonly table: string; readonly rows: number }[];
  assert.equal(tables.find(({ table }) => table === 'domains')?.rows, domains.length);
  await assert.rejects(
    harness.restart(),
    /a copy of \S+strata\.db to PostgreSQL began at 2\S+Z: if it has ended, set STRATA/,
  );
  const service = await connect(`${url}?application_name=strata`);
  assert.match((await command('migrate-store', '--reopen', '-')).stderr, /Other processes of Strata are connected/);
  await service.end();
  assert.match((await command('migrate-store', '--reopen')).stdout, /strata\.db is in use again/);
  const again = await command('migrate-store', '-');
  assert.deepEqual([again.code, again.stdout], [1, '']);
  assert.match(again.stderr, /strata: The database already contains a store/);
  await assert.rejects(harness.restart({ STRATA_DATABASE_URL: url }), { name: 'LogError', code: 'not-moved' });
  const ledger = await command('migrate-log', '-', '--json');
  assert.equal(ledger.code, 0, ledger.stderr);
  const { size, added } = JSON.parse(ledger.stdout) as { readonly size: number; readonly added: number };
  assert.ok(size > 0 && added === size);
  const after = await command('migrate-log', '-');
  assert.deepEqual([after.code, after.stdout], [1, '']);
  assert.match(after.stderr, /nothing left to migrate: an earlier run moved the ledger of .+ to a database/);
  await assert.rejects(harness.restart(), { name: 'LogError', code: 'moved' });
  await harness.restart({ STRATA_DATABASE_URL: url });
  assert.deepEqual(contentOf((await harness.get(asked)).body), contentOf(before.body));
  const verified = await verifyBody(before.text, { baseUrl: harness.base });
  assert.ok(verified.ok, `a receipt from before: ${JSON.stringify(verified.steps.at(-1))}`);
  assert.equal((await harness.ask(asked, { headers: { 'x-stack-key': key } })).status, 200, 'keys hold');
});

it('the database server is reported short of connections by the nearest limit, with pools and locks counted', {
  skip: postgres.skip,
}, async () => {
  const needs = (role: NodeRole) => needsOf({ databaseConnections: 10, dataDirectory: '/', role });
  const roles = ['all', 'api', 'scanner', 'scheduler'] as const;
  const listed = roles.map((role) => needs(role).connections);
  assert.deepEqual(listed, [14, 13, 10, 14]);
  await using server = await startPostgres({ max_connections: '60' });
  const url = await server.fresh();
  const assertFound = async (connections: number, status: string, text: RegExp, at = url) => {
    const { findings } = await checkDatabase(at, { ...needs('all'), connections });
    assert.equal(findings[0]?.status, status, findings[0]?.found);
    assert.match(findings[0]?.found ?? '', text);
  };
  await assertFound(14, 'ok', /postgres: empty/);
  await assertFound(58, 'warning', /\d+ of 57 connections of the server are used; this process may open 58/);
  await server.sql('alter role strata connection limit 13');
  await assertFound(14, 'warning', /of 13 connections of the user are used/);
  await server.sql('alter role strata connection limit -1');
  await using pooler = await startTransactionPooler(url);
  await assertFound(14, 'problem', /a connection pooler is in transaction mode/, pooler.url);
});
