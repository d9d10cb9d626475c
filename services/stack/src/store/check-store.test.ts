// A database inspected before it is used, in every state; and the faults that a check finds in a store.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { checkStore, inspectStore } from '@strata/db';
import { startTransactionPooler } from '../../../../tests/support/database/transaction-pooler.ts';
import { freePort } from '../../../../tests/support/free-port.ts';
import { openStore, stackSchema } from './index.ts';
import * as backends from './test/backends.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from './test/scans.ts';

const { damage, exec, failsWith, file, freshPath, kept, onEach, postgres, postgresServer, rows } = backends;

async function addDomains(url: string, count: number): Promise<void> {
  await using store = await openStore(url);
  const names = Array.from({ length: count }, (_, at) => `name-${at}.test`);
  await store.domains.add(names, { source: 'test' });
}

it('an inspected SQLite file is reported as empty, current, older, newer, damaged, and of another program', async () => {
  const file = freshPath();
  const url = `sqlite:${file}`;
  assert.equal((await inspectStore(stackSchema, url)).schema, 'empty');
  assert.ok(!existsSync(file), 'an inspection makes no file');
  await addDomains(url, 500);
  const inspection = await inspectStore(stackSchema, url);
  assert.partialDeepStrictEqual(inspection, { kind: 'sqlite', schema: 'current', counted: 500 });
  await exec(url, "insert into kysely_migration (name, timestamp) values ('999-later', '')");
  assert.equal((await inspectStore(stackSchema, url)).schema, 'newer');
  await exec(url, "update kysely_migration set name = '019-another', timestamp = '2030-01-01' where name > '999'");
  await assert.rejects(inspectStore(stackSchema, url), { code: 'names-taken' });
  await assert.rejects(addDomains(url, 1), failsWith('names-taken'));
  await exec(url, "delete from kysely_migration where name > '005'");
  assert.equal((await inspectStore(stackSchema, url)).schema, 'older');
  await exec(url, 'pragma wal_checkpoint(truncate)');
  damage(file, [3, 4]);
  await assert.rejects(inspectStore(stackSchema, url), failsWith('corrupt'));
  const other = `sqlite:${freshPath()}`;
  await exec(other, 'create table notes (text)');
  await assert.rejects(inspectStore(stackSchema, other), { name: 'StoreError', code: 'not-a-database' });
});

onEach([postgres], 'an inspected server', (_backend, _test, _onFresh, onEmpty) => {
  onEmpty('is reported with its schema, connections and clock, and whether it can be written', async (url) => {
    const name = new URL(url).pathname.slice(1);
    assert.equal((await inspectStore(stackSchema, url)).schema, 'empty');
    await addDomains(url, 1);
    const state = await inspectStore(stackSchema, url);
    const setting = (name: string) => `current_setting('${name}connections')::int`;
    const open = `${setting('max_')} - ${setting('superuser_reserved_')} - ${setting('reserved_')}`;
    const [limits] = await rows(url, `select ${open} as max`);
    assert.partialDeepStrictEqual(state, {
      ...{ kind: 'postgres', schema: 'current', counted: 1, isWritable: true, hasSessions: true },
      connections: { ...limits, limitOf: 'server' },
    });
    assert.ok(Math.abs(state.clockAheadMs ?? Number.NaN) < 30_000);
    {
      await using pooler = await startTransactionPooler(url);
      assert.equal((await inspectStore(stackSchema, pooler.url)).hasSessions, false);
    }
    const few = `few_${name}`;
    await exec(url, `create role ${few} login connection limit 5`);
    await exec(url, `grant select on all tables in schema public to ${few}`);
    const { connections: own } = await inspectStore(stackSchema, url.replace('strata@', `${few}@`));
    assert.deepEqual(own, { used: 0, max: 5, limitOf: 'user' });
    await exec(url, `alter database ${name} connection limit 3`);
    const { connections } = await inspectStore(stackSchema, url);
    assert.partialDeepStrictEqual(connections, { max: 3, limitOf: 'database' });
    await exec(url, `alter database ${name} connection limit -1`);
    await exec(url, `alter database ${name} set default_transaction_read_only = on`);
    assert.equal((await inspectStore(stackSchema, url)).isWritable, false);
    const nowhere = `postgres://strata@127.0.0.1:${await freePort()}/x`;
    await assert.rejects(inspectStore(stackSchema, nowhere), failsWith('unreachable'));
  });
});

async function filled(url: string): Promise<string> {
  await using store = await openStore(url);
  for (const [at, exchange] of [GOOGLE, MICROSOFT, MICROSOFT, GOOGLE, GOOGLE].entries())
    for (const name of ['a.com', 'b.com']) await recordScan(store, scanOf(name, day(at), exchange), confirm);
  const { stored } = await store.keys.create({ tier: 'free' });
  await store.quota.take(stored.id, '2026-01-01', 50);
  await store.stream.begin(0, 1);
  return url;
}

const findingsOf = async (url: string) =>
  (await checkStore(stackSchema, url)).findings.map(({ what }) => what).join('\n');

onEach(kept, 'a checked store', ({ fresh }) => {
  it('passes when it is sound, and reports each fault by itself', async () => {
    const url = await filled(await fresh());
    const { checks, findings } = await checkStore(stackSchema, url);
    assert.deepEqual(findings, []);
    for (const name of ['version', 'intervals', 'quotas', 'numbers']) assert.ok(checks.includes(name), name);
    const ended = (sql: string) => exec(url, `update services set ${sql} where valid_to is not null`);
    await ended('valid_to = valid_from - 1');
    assert.match(await findingsOf(url), /end before they begin/);
    await ended('valid_to = valid_from + 1');
    const ofLastScan = 'set scan_id = (select max(id) from scans)';
    for (const [sql, expected] of [
      ['update services set valid_from = 1 where valid_to is null', /Intervals of the same service overlap.*services/],
      ["update domains set last_scanned_at = null where name = 'a.com'", /never scanned \(domains\): a\.com/],
      [`update changes ${ofLastScan} where domain_id = (select min(id) from domains)`, /scan of another domain/],
      ["update settings set value = '999999' where name = 'stream-cursor'", /position of the stream is after/],
      ['update quota_usage set used = 51', /or more than their limit/],
      ["insert into kysely_migration (name, timestamp) values ('998-later', '')", /of a newer version/],
    ] as const) {
      assert.doesNotMatch(await findingsOf(url), expected);
      await exec(url, sql);
      assert.match(await findingsOf(url), expected);
    }
  });

  it('is not changed where its schema is older, and not held to later rules', async () => {
    const url = await filled(await fresh());
    await exec(url, "delete from kysely_migration where name >= '005'; update quota_usage set used = 51");
    assert.equal(await findingsOf(url), '');
  });
});

it('a checked SQLite file has references to missing rows, and a next number that is taken', async () => {
  const url = await filled(await file.fresh());
  const taken = "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'events'";
  await exec(url, `PRAGMA foreign_keys = OFF; DELETE FROM scans; ${taken}`);
  const both = /refer to rows that do not exist.*\n[\s\S]*events has the number \d+, but its sequence continues with 2/;
  assert.match(await findingsOf(url), both);
});

it('a checked SQLite file is reported as missing, and is not made', async () => {
  const path = freshPath();
  for (let times = 0; times < 2; times += 1) assert.match(await findingsOf(`sqlite:${path}`), /cannot be opened/);
});

describe('a checked PostgreSQL store', { skip: postgres.skip }, () => {
  it('has an index that is not valid, and a next number that is taken', async () => {
    const url = await filled(await postgres.fresh());
    const invalid = "update pg_index set indisvalid = false where indexrelid = 'changes_from'::regclass";
    await (await postgresServer()).sql(invalid, new URL(url).pathname.slice(1));
    await exec(url, "select setval(pg_get_serial_sequence('events', 'seq'), 1)");
    assert.match(await findingsOf(url), /The index changes_from is not valid\.\n[\s\S]*events has the number/);
  });

  it('has the pages of its indexes checked where amcheck is installed', async () => {
    const url = await filled(await postgres.fresh());
    assert.ok(!(await checkStore(stackSchema, url)).checks.includes('pages of indexes (amcheck)'));
    await exec(url, 'create extension amcheck');
    const { checks, findings } = await checkStore(stackSchema, url);
    assert.deepEqual([checks.includes('pages of indexes (amcheck)'), findings], [true, []]);
  });

  it('is reported as unreachable, without its password', async () => {
    const { findings } = await checkStore(stackSchema, 'postgres://u:secret@127.0.0.1:9/none');
    assert.match(findings[0]?.what ?? '', /does not respond/);
    assert.ok(!JSON.stringify(findings).includes('secret'));
  });
});
