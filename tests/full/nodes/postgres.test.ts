// A store and a ledger that grew on SQLite are copied to PostgreSQL by commands, and the service continues there.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { verifyBody } from '@strata/client';
import type { Internet } from '@strata/testnet';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice, type PostgresCluster } from '../../../packages/store/src/test/postgres.ts';
import { runStrata } from '../../../services/cli/src/test/run-strata.ts';
import { startHarness, temporaryDirectory } from '../../../services/stack/src/test/harness.ts';
import { contentOf } from '../../support/node-answers.ts';
import { sharedInternet } from '../../support/shared-internet.ts';

describe('the stack service on PostgreSQL', { skip: binaries ? false : notice }, () => {
  let internet: Internet;
  let server: PostgresCluster;
  before(async () => {
    internet = await sharedInternet();
    server = await postgresServer();
  });

  it('goes on with what a SQLite store had, by the command that copies it', async () => {
    const world = { now: () => new Date('2026-03-01T00:00:00Z') };
    await using harness = await startHarness({ internet, world });
    const domains = internet.domains().slice(0, 10);
    await harness.scan(...domains);
    const key = await harness.newKey('free');
    const asked = `/stack/v1/domains/${domains[0]}`;
    const before = await harness.get(asked);
    const url = await server.fresh();
    const env = { STRATA_DATA: harness.directory };
    const command = async (...args: string[]) => runStrata(['stack', ...args], { env, input: `${url}\n` });
    const busy = await command('migrate-log', '-');
    assert.equal(busy.code, 1);
    assert.match(busy.stderr, /^strata: .*is held by process/m);
    await harness.running[Symbol.asyncDispose]();
    const copied = await command('migrate-store', '-', '--json');
    assert.equal(copied.code, 0, copied.stderr);
    const tables = JSON.parse(copied.stdout) as readonly { readonly table: string; readonly rows: number }[];
    assert.equal(tables.find(({ table }) => table === 'domains')?.rows, domains.length);
    const again = await command('migrate-store', '-');
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, /strata: There is a store in the database already/);
    await assert.rejects(harness.restart({ STRATA_DATABASE_URL: url }), { name: 'LogError', code: 'not-moved' });
    const ledger = await command('migrate-log', '-', '--json');
    assert.equal(ledger.code, 0, ledger.stderr);
    const { size, added } = JSON.parse(ledger.stdout) as { readonly size: number; readonly added: number };
    assert.ok(size > 0 && added === size);
    const after = await command('migrate-log', '-');
    assert.deepEqual([after.code, after.stdout], [1, '']);
    assert.match(after.stderr, /nothing is left to bring over: the ledger of .+ in a database since an earlier run/);
    await assert.rejects(harness.restart(), { name: 'LogError', code: 'moved' });
    await harness.restart({ STRATA_DATABASE_URL: url });
    assert.deepEqual(contentOf((await harness.get(asked)).body), contentOf(before.body));
    const verified = await verifyBody(before.text, { baseUrl: harness.base });
    assert.ok(verified.ok, `a receipt from before: ${JSON.stringify(verified.steps.at(-1))}`);
    assert.equal((await harness.ask(asked, { headers: { 'x-stack-key': key } })).status, 200, 'keys hold');
  });

  it('gives out receipts at two nodes that hold at either, in one ledger', async () => {
    const settings = { STRATA_DATABASE_URL: await server.fresh() };
    await using directory = await temporaryDirectory();
    await using one = await startHarness({ internet, settings });
    await assert.rejects(startHarness({ internet, settings }), { name: 'LogError', code: 'wrong-key' });
    cpSync(path.join(one.directory, 'keys'), path.join(directory.path, 'keys'), { recursive: true });
    await using two = await startHarness({ internet, settings: { ...settings, STRATA_DATA: directory.path } });
    const asked = [
      [one, '/health'],
      [two, '/health'],
      [one, '/nowhere'],
      [two, '/stack/v1/stats'],
    ] as const;
    for (const [node, each] of asked) {
      const { text: answer } = await node.get(each);
      for (const { base } of [one, two]) {
        const verified = await verifyBody(answer, { baseUrl: base });
        assert.ok(verified.ok, `${each}: ${JSON.stringify(verified.steps.at(-1))}`);
      }
    }
    const keySets = await Promise.all([one, two].map((node) => node.get('/.well-known/stack-keys.json')));
    assert.deepEqual(contentOf(keySets[0]?.body), contentOf(keySets[1]?.body));
  });

  it('says in a line that the server does not answer, without the password', async () => {
    const env = { STRATA_DATABASE_URL: 'postgres://u:secret@127.0.0.1:9/none' };
    const { code, stdout, stderr } = await runStrata(['stack', 'keys', 'list'], { env });
    assert.deepEqual([stdout, code], ['', 1]);
    assert.match(stderr, /^strata: The database server does not answer/);
    assert.doesNotMatch(stderr, /secret|^ +at /m);
  });
});
