// Two gateways on one database: the second does not start, and one that was cut off while another began ends.
import assert from 'node:assert/strict';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tinyChatModel } from '@strata/testnet';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice, type PostgresCluster } from '../../../packages/store/src/test/postgres.ts';
import { spawnStrata } from '../../../services/cli/src/test/run-strata.ts';
import { MODEL, startHarness } from '../../../services/gateway/src/test/harness.ts';

const PATIENCE_MS = 120_000;
const NUMBER = 0x5354_5247;
const SESSION = "application_name = 'strata gateway'";
const question = { model: MODEL, messages: [{ role: 'user', content: 'What is DMARC?' }], max_tokens: 4 };

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(50)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
}

/** `strata inference gateway` with a directory of its own; ended when it is ready, if ever. */
async function startSecond(databaseUrl: string) {
  await using directory = await mkdtempDisposable(path.join(tmpdir(), 'strata-second-'));
  const env = {
    STRATA_DATA: directory.path,
    STRATA_INFERENCE_PORT: '0',
    STRATA_INFERENCE_DATABASE_URL: databaseUrl,
    STRATA_MODEL: tinyChatModel,
  };
  return await spawnStrata(['inference', 'gateway'], { env, interruptAt: /"msg":"ready"/ });
}

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

describe('a second gateway on PostgreSQL', { skip: binaries ? false : notice }, () => {
  let server: PostgresCluster;
  before(async () => {
    server = await postgresServer();
  });
  const databaseOf = (url: string) => new URL(url).pathname.slice(1);
  const sessionOf = async (url: string) => {
    const { rows } = await server.sql(
      `select a.pid from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.classid = ${NUMBER} and ${SESSION} and a.datname = '${databaseOf(url)}'`,
    );
    return rows[0]?.pid as number | undefined;
  };

  it('is not needed where the first loses its connection: it takes the lock anew and works on', async () => {
    const url = await server.fresh();
    await using first = await startHarness({ STRATA_INFERENCE_DATABASE_URL: url });
    const session = await sessionOf(url);
    assert.ok(session);
    await server.sql(`select pg_terminate_backend(${session})`);
    await until('the lock is held again', async () => ((await sessionOf(url)) ?? session) !== session || undefined);
    assert.equal(first.running.gateway.superseded.aborted, false);
    const { status, headers } = await first.post('/v1/chat/completions', question);
    assert.equal(status, 200);
    assert.equal((await first.get(`/v1/receipts/${headers.get('x-receipt-id')}`)).status, 200);
  });

  it('that has begun while the first was cut off makes that one end, and refuses what it still writes', async () => {
    const url = await server.fresh();
    await using first = await startHarness({ STRATA_INFERENCE_DATABASE_URL: url });
    const { superseded } = first.running.gateway;
    // Stands in line for the lock, and begins a term as a gateway does.
    const begun = server.sql(
      `select pg_advisory_lock(${NUMBER}, hashtext(current_schema()));
       update counters set value = value + 1 where name = 'gateway-term'`,
      databaseOf(url),
    );
    await until('it stands in line', async () => {
      const { rows } = await server.sql(
        `select 1 from pg_locks l join pg_database d on d.oid = l.database
         where not granted and classid = ${NUMBER} and datname = '${databaseOf(url)}'`,
      );
      return rows[0];
    });
    await server.sql(`select pg_terminate_backend(${await sessionOf(url)})`);
    await begun;
    await until('the first hears of it', async () => superseded.aborted || undefined);
    assert.equal(superseded.reason.name, 'GatewayStartError');
    assert.match(superseded.reason.message, /another gateway has taken over the database/);
    const late = await first.post('/v1/chat/completions', question);
    assert.deepEqual([late.status, late.body.error.code], [503, 'storage_unavailable'], late.text);
  });

  it('ends the process of the first, with an exit code that says so', async () => {
    const url = await server.fresh();
    await using directory = await mkdtempDisposable(path.join(tmpdir(), 'strata-first-'));
    const env = {
      STRATA_DATA: directory.path,
      STRATA_INFERENCE_PORT: '0',
      STRATA_INFERENCE_DATABASE_URL: url,
      STRATA_MODEL: tinyChatModel,
    };
    const running = spawnStrata(['inference', 'gateway'], { env });
    const session = await until('it holds the lock', () => sessionOf(url));
    await server.sql("update counters set value = value + 1 where name = 'gateway-term'", databaseOf(url));
    await server.sql(`select pg_terminate_backend(${session})`);
    const { code, stderr } = await running;
    assert.equal(code, 1, stderr);
    assert.match(stderr, /strata: another gateway has taken over the database/);
  });
});
