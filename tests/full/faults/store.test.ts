// What a damaged, full, locked or vanished SQLite store does to the service, on real processes: it reports the error, makes nothing
// worse, loses nothing that was acknowledged, and goes on when it can.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { checkStore } from '@strata/db';
import { openStore, stackSchema } from '@strata/stack/store';
import { runStrata } from '../../../services/cli/src/test/run-strata.ts';
import { temporaryDirectory, untilAnswer } from '../../support/index.ts';
import { fillStore, settingsOf, startServe } from '../../support/serve-process.ts';
import { fails, succeeds } from '../../support/strata-stack.ts';

const hasLimits = spawnSync('prlimit', ['--version']).error === undefined;
const isOk = ({ status }: Response) => status === 200;

async function isUnavailable(answer: Response): Promise<void> {
  const body = (await answer.json()) as { readonly code: string; readonly detail: string };
  assert.deepEqual([answer.status, body.code], [503, 'unavailable'], JSON.stringify(body));
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  assert.equal(answer.headers.get('retry-after'), '30');
  assert.match(body.detail, /cannot read or write its data at the moment/);
}

async function dataDirectory(domains = 200) {
  const directory = await temporaryDirectory();
  const file = path.join(directory.path, 'strata.db');
  return { ...directory, file, ...(await fillStore(file, domains)) };
}

const usedOf = async (file: string, keyId: string) => {
  await using store = await openStore(`sqlite:${file}`);
  return await store.quota.used(keyId, new Date().toISOString().slice(0, 10));
};
const DAMAGED_SHARE = 0.6;
/** Of the pages that `spoil` writes over, in a file that had so many bytes then. */
const digestOfDamage = (file: string, bytes: number) => {
  const first = Math.floor((bytes / 4_096) * (1 - DAMAGED_SHARE)) * 4_096;
  return createHash('sha256').update(readFileSync(file).subarray(first, bytes)).digest('hex');
};

/** Writes garbage over pages from the middle of the file on. */
function spoil(file: string, share = DAMAGED_SHARE): void {
  const bytes = readFileSync(file);
  const pages = Math.floor(bytes.length / 4_096);
  for (let page = Math.floor(pages * (1 - share)); page < pages; page += 1)
    bytes.fill(0xa5, page * 4_096 + 8, page * 4_096 + 4_008);
  writeFileSync(file, bytes);
}

describe('a service whose disk is full', { skip: !hasLimits && 'there is no prlimit here' }, () => {
  it('answers 503 where it must write, all else from memory, and continues with space', {
    timeout: 300_000,
  }, async () => {
    await using at = await dataDirectory();
    await using service = await startServe(at.path);
    const receiptOf = async () => {
      const known = await service.get('/stack/v1/domains/d1.com', at.free);
      assert.equal(known.status, 200);
      return ((await known.json()) as { provenance: { receipt_id: string } }).provenance.receipt_id;
    };
    const receipt = await receiptOf();
    const ask = () => service.get('/stack/v1/domains/d2.com', at.counted);
    service.limitFiles(statSync(at.file).size >> 2);
    let acknowledged = 0;
    const count = (answer: Response) => {
      if (isOk(answer)) acknowledged += 1;
      return !isOk(answer);
    };
    await isUnavailable(await untilAnswer('it is full', ask, count));
    assert.ok(acknowledged > 0);
    // What is in memory has its receipt already, and who need not be counted gets it.
    assert.equal(await receiptOf(), receipt);
    for (const open of ['/health', '/ledger/checkpoint', '/.well-known/stack-keys.json'])
      assert.equal((await service.get(open)).status, 200, open);
    assert.match(service.log.join('\n'), /disk is full|reported an error while the database/);

    service.limitFiles('unlimited');
    await untilAnswer('it goes on', ask, isOk);
    await service.kill();
    // Each request that was answered was counted; one that was refused may have been.
    const used = await usedOf(at.file, at.countedId);
    assert.ok(used >= acknowledged + 1 && used <= acknowledged + 200, `${used}, ${acknowledged}`);
    assert.deepEqual((await checkStore(stackSchema, `sqlite:${at.file}`)).findings, []);
  });
});

it('a service whose store is locked by another process answers 503 where it must count a request, keeps reading, and continues when the lock is released', {
  timeout: 300_000,
}, async () => {
  await using at = await dataDirectory();
  await using service = await startServe(at.path);
  const ask = () => service.get('/stack/v1/domains/d1.com', at.counted);
  assert.equal((await ask()).status, 200);
  using other = new DatabaseSync(at.file);
  other.exec('BEGIN IMMEDIATE');
  await isUnavailable(await ask());
  assert.equal((await service.get('/stack/v1/domains/d3.com', at.free)).status, 200, 'what was not asked for before');
  other.exec('ROLLBACK');
  await untilAnswer('it goes on', ask, isOk);
});

it('damaged pages are reported, not made worse, found by check-store and repaired', {
  timeout: 300_000,
}, async () => {
  await using at = await dataDirectory();
  const env = settingsOf(at.path);
  const set = path.join(at.path, 'set');
  await succeeds(['backup', set], env);
  await succeeds(['check-store'], env);
  // Its name tables are intact: the service starts, and requests find the damage.
  spoil(at.file);
  const { size } = statSync(at.file);
  const damaged = digestOfDamage(at.file, size);
  const checked = await runStrata(['stack', 'check-store'], { env });
  assert.equal(checked.code, 1, checked.stdout + checked.stderr);
  assert.match(checked.stdout, /damaged/);
  assert.match(checked.stdout, /restore a backup/);
  for (const _ of ['once', 'and again']) {
    const started = await startServe(at.path).catch((error: Error) => error);
    if (started instanceof Error) {
      assert.match(started.message, /^strata: The database is damaged[^\n]*$/);
      continue;
    }
    await using service = started;
    let refused = 0;
    for (let i = 0; i < 200; i += 20) {
      const answer = await service.get(`/stack/v1/domains/d${i}.com`, at.free);
      if (answer.status === 200) continue;
      await isUnavailable(answer);
      refused += 1;
    }
    assert.ok(refused > 0);
    assert.ok(service.log.some((line) => line.includes('The database is damaged')));
  }
  assert.equal(digestOfDamage(at.file, size), damaged, 'no start has written over the damage');
  await succeeds(['restore', set, '--replace'], env);
  await succeeds(['check-store'], env);
  await using service = await startServe(at.path);
  assert.equal((await service.get('/stack/v1/domains/d199.com', at.free)).status, 200);
});

it('a store with damaged pages never passes a damaged backup as complete', async () => {
  await using at = await dataDirectory();
  const set = path.join(at.path, 'set');
  spoil(at.file);
  assert.match(await fails(['backup', set], settingsOf(at.path)), /damaged/);
  assert.ok(!existsSync(set));
});

/** A data directory as a kill leaves it, with a write-ahead log that holds what was written last. */
const killed = async () => {
  const at = await dataDirectory(20);
  await using service = await startServe(at.path);
  for (let i = 0; i < 30; i += 1)
    assert.equal((await service.get(`/stack/v1/domains/d${i % 20}.com`, at.counted)).status, 200);
  await service.kill();
  assert.ok(statSync(`${at.file}-wal`).size > 0);
  return at;
};

for (const [what, spoilLog] of [
  ['cut off', (log: string) => truncateSync(log, statSync(log).size >> 1)],
  ['damaged', (log: string) => spoil(log, 0.5)],
  ['removed', (log: string) => rmSync(log)],
] as const) {
  it(`a killed store is an older one, and complete, when its log is ${what}`, {
    timeout: 120_000,
  }, async () => {
    await using at = await killed();
    spoilLog(`${at.file}-wal`);
    rmSync(`${at.file}-shm`, { force: true });
    assert.deepEqual((await checkStore(stackSchema, `sqlite:${at.file}`)).findings, []);
    // The ledger is ahead of the store: harmless, every receipt that was given is in it.
    await using service = await startServe(at.path);
    assert.equal((await service.get('/stack/v1/domains/d7.com', at.free)).status, 200);
    assert.ok((await usedOf(at.file, at.countedId)) <= 30);
  });
}
