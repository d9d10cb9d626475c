// The inference service on PostgreSQL: the same answers, and nothing lost with the server. Two gateways on one database:
// the second does not start, and one that was cut off while another began ends.
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { tinyChatModel } from '@strata/testnet';
import { type ProcessOptions, spawnStrata } from '../../../services/cli/src/test/run-strata.ts';
import { type Harness, MODEL, startHarness } from '../../../services/gateway/src/test/harness.ts';
import { exec, postgres, rows } from '../../../services/stack/src/store/test/backends.ts';
import { startPostgres } from '../../support/database/postgres.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until, untilAnswer } from '../../support/until.ts';

/** Of the lock. */
const NUMBER = 0x5354_5247;
const question = { model: MODEL, messages: [{ role: 'user', content: 'What is DMARC?' }], max_tokens: 4 };

const start = (url: string, settings = {}) => startHarness({ STRATA_INFERENCE_DATABASE_URL: url, ...settings });
const ask = (service: Harness) => service.post('/v1/chat/completions', question);
const isOk = ({ status }: { readonly status: number }) => status === 200;

/** `strata inference gateway`, with a new directory by default. */
async function runGateway(databaseUrl: string, options: ProcessOptions = {}, data?: string) {
  await using directory = await temporaryDirectory();
  const own = { STRATA_DATA: data ?? directory.path, STRATA_INFERENCE_PORT: '0', STRATA_MODEL: tinyChatModel };
  const env = { ...own, STRATA_INFERENCE_DATABASE_URL: databaseUrl };
  return await spawnStrata(['inference', 'gateway'], { env, ...options });
}
/** The same, ended when it is ready, if ever. */
const startSecond = (url: string, data?: string) => runGateway(url, { interruptAt: /"msg":"ready"/ }, data);

it('a second gateway does not start on the SQLite file of another, and says what to do; later it does', async () => {
  await using directory = await temporaryDirectory();
  const url = `sqlite:${path.join(directory.path, 'inference.db')}`;
  {
    await using first = await start(url, { STRATA_DATA: directory.path });
    const { code, stderr } = await startSecond(url);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /strata: another gateway uses this database: .*STRATA_INFERENCE_DATABASE_URL/);
    assert.doesNotMatch(stderr, /^ +at /m);
    assert.equal((await ask(first)).status, 200);
  }
  const later = await startSecond(url, directory.path);
  assert.match(later.stderr, /"msg":"ready"/);
});

describe('a second gateway on PostgreSQL', { skip: postgres.skip }, () => {
  const sessionOf = async (url: string) => {
    const held = `select a.pid from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory'
      and l.granted and classid = ${NUMBER} and application_name = 'strata gateway' and datname = current_database()`;
    return (await rows(url, held))[0]?.pid;
  };

  it('is not needed when the first loses its connection: it takes the lock again and continues', async () => {
    const url = await postgres.empty();
    await using first = await start(url);
    const session = await sessionOf(url);
    assert.ok(session);
    await exec(url, `select pg_terminate_backend(${session})`);
    await until(async () => ((await sessionOf(url)) ?? session) !== session, { what: 'it has the lock' });
    assert.equal(first.running.gateway.superseded.aborted, false);
    const { status, headers } = await ask(first);
    assert.equal(status, 200);
    assert.equal((await first.get(`/v1/receipts/${headers.get('x-receipt-id')}`)).status, 200);
  });

  it('that has begun while the first was cut off makes that one end, and refuses what it still writes', async () => {
    const url = await postgres.empty();
    await using first = await start(url);
    const { superseded } = first.running.gateway;
    // Waits for the lock, and begins a term as a gateway does.
    const begun = exec(
      url,
      `select pg_advisory_lock(${NUMBER}, hashtext(current_schema()));
       update counters set value = value + 1 where name = 'gateway-term'`,
    );
    const waits = `select 1 from pg_locks l join pg_database d on d.oid = l.database
      where not granted and classid = ${NUMBER} and datname = current_database()`;
    await until(async () => (await rows(url, waits)).length > 0, { what: 'it waits for the lock' });
    await exec(url, `select pg_terminate_backend(${await sessionOf(url)})`);
    await begun;
    await until(() => superseded.aborted, { what: 'the first is notified', limitMs: 120_000 });
    assert.equal(superseded.reason.name, 'StartError');
    assert.match(superseded.reason.message, /another gateway has taken over the database/);
    const late = await ask(first);
    assert.deepEqual([late.status, late.body.error.code], [503, 'storage_unavailable'], late.text);
  });

  it('ends the process of the first, with an exit code that says so', async () => {
    const url = await postgres.empty();
    const running = runGateway(url);
    const session = await untilAnswer('it holds the lock', () => sessionOf(url), Boolean);
    await exec(url, "update counters set value = value + 1 where name = 'gateway-term'");
    await exec(url, `select pg_terminate_backend(${session})`);
    const { code, stderr } = await running;
    assert.equal(code, 1, stderr);
    assert.match(stderr, /strata: another gateway has taken over the database/);
  });
});

describe('the inference service on PostgreSQL', { skip: postgres.skip }, () => {
  const receiptOf = (service: Harness, id: string) => service.get(`/v1/receipts/${id}`);

  it('says that its database is away, and goes on when it is back, with every receipt that it gave out', async () => {
    // Its own server: this one is killed.
    await using own = await startPostgres();
    await using service = await start(await own.fresh());
    const first = await ask(service);
    assert.equal(first.status, 200);
    await own.kill();
    const away = await ask(service);
    assert.deepEqual([away.status, away.body.error.code], [503, 'storage_unavailable'], away.text);
    assert.ok(Number(away.headers.get('retry-after')) > 0);
    assert.doesNotMatch(away.text, /postgres|ECONN|127\.0\.0\.1/);
    await own.start();
    const back = await untilAnswer('an answer', () => ask(service), isOk);
    for (const { headers } of [first, back]) {
      const id = headers.get('x-receipt-id') ?? '';
      const receipt = await untilAnswer('its receipt', () => receiptOf(service, id), isOk);
      assert.equal(receipt.body.provenance.receipt_id, id);
    }
  });
});
