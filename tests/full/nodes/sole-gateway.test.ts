// Two gateways on one database: the second does not start, and one that was cut off while another began ends.
import assert from 'node:assert/strict';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { tinyChatModel } from '@strata/testnet';
import { exec, postgres, rows } from '../../../packages/store/src/test/places.ts';
import { type ProcessOptions, spawnStrata } from '../../../services/cli/src/test/run-strata.ts';
import { MODEL, startHarness } from '../../../services/gateway/src/test/harness.ts';
import { until, untilAnswer } from '../../support/until.ts';

const NUMBER = 0x5354_5247;
const SESSION = "application_name = 'strata gateway'";
const question = { model: MODEL, messages: [{ role: 'user', content: 'What is DMARC?' }], max_tokens: 4 };

/** `strata inference gateway` with a directory of its own. */
async function runGateway(databaseUrl: string, options: ProcessOptions = {}) {
  await using directory = await mkdtempDisposable(path.join(tmpdir(), 'strata-gateway-'));
  const env = {
    STRATA_DATA: directory.path,
    STRATA_INFERENCE_PORT: '0',
    STRATA_INFERENCE_DATABASE_URL: databaseUrl,
    STRATA_MODEL: tinyChatModel,
  };
  return await spawnStrata(['inference', 'gateway'], { env, ...options });
}
/** The same, ended when it is ready, if ever. */
const startSecond = (url: string) => runGateway(url, { interruptAt: /"msg":"ready"/ });

describe('a second gateway', () => {
  it('does not start on the SQLite file of another, and says what to do; later it does', async () => {
    await using directory = await mkdtempDisposable(path.join(tmpdir(), 'strata-shared-'));
    const url = `sqlite:${path.join(directory.path, 'inference.db')}`;
    {
      await using first = await startHarness({ STRATA_INFERENCE_DATABASE_URL: url });
      const { code, stderr } = await startSecond(url);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /strata: another gateway works on this database: .*STRATA_INFERENCE_DATABASE_URL/);
      assert.doesNotMatch(stderr, /^ +at /m);
      assert.equal((await first.post('/v1/chat/completions', question)).status, 200);
    }
    const later = await startSecond(url);
    assert.match(later.stderr, /"msg":"ready"/);
  });
});

describe('a second gateway on PostgreSQL', { skip: postgres.skip }, () => {
  const sessionOf = async (url: string) => {
    const held = `select a.pid from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory'
      and l.granted and l.classid = ${NUMBER} and ${SESSION} and a.datname = current_database()`;
    return (await rows(url, held))[0]?.pid;
  };

  it('is not needed where the first loses its connection: it takes the lock anew and works on', async () => {
    const url = await postgres.fresh();
    await using first = await startHarness({ STRATA_INFERENCE_DATABASE_URL: url });
    const session = await sessionOf(url);
    assert.ok(session);
    await exec(url, `select pg_terminate_backend(${session})`);
    await until(async () => ((await sessionOf(url)) ?? session) !== session, {
      what: 'it has the lock',
      limitMs: 120_000,
    });
    assert.equal(first.running.gateway.superseded.aborted, false);
    const { status, headers } = await first.post('/v1/chat/completions', question);
    assert.equal(status, 200);
    assert.equal((await first.get(`/v1/receipts/${headers.get('x-receipt-id')}`)).status, 200);
  });

  it('that has begun while the first was cut off makes that one end, and refuses what it still writes', async () => {
    const url = await postgres.fresh();
    await using first = await startHarness({ STRATA_INFERENCE_DATABASE_URL: url });
    const { superseded } = first.running.gateway;
    // Stands in line for the lock, and begins a term as a gateway does.
    const begun = exec(
      url,
      `select pg_advisory_lock(${NUMBER}, hashtext(current_schema()));
       update counters set value = value + 1 where name = 'gateway-term'`,
    );
    const waits = `select 1 from pg_locks l join pg_database d on d.oid = l.database
      where not granted and classid = ${NUMBER} and datname = current_database()`;
    await until(async () => (await rows(url, waits)).length > 0, { what: 'it stands in line' });
    await exec(url, `select pg_terminate_backend(${await sessionOf(url)})`);
    await begun;
    await until(() => superseded.aborted, { what: 'the first is told', limitMs: 120_000 });
    assert.equal(superseded.reason.name, 'GatewayStartError');
    assert.match(superseded.reason.message, /another gateway has taken over the database/);
    const late = await first.post('/v1/chat/completions', question);
    assert.deepEqual([late.status, late.body.error.code], [503, 'storage_unavailable'], late.text);
  });

  it('ends the process of the first, with an exit code that says so', async () => {
    const url = await postgres.fresh();
    const running = runGateway(url);
    const session = await untilAnswer('it holds the lock', () => sessionOf(url), Boolean);
    await exec(url, "update counters set value = value + 1 where name = 'gateway-term'");
    await exec(url, `select pg_terminate_backend(${session})`);
    const { code, stderr } = await running;
    assert.equal(code, 1, stderr);
    assert.match(stderr, /strata: another gateway has taken over the database/);
  });
});
