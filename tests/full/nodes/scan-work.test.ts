// Several processes work off one schedule: nothing is left, nothing is lost when one is killed, and little is done twice.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/store';
import pg from 'pg';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice } from '../../../packages/store/src/test/postgres.ts';

const DOMAINS = 2_000;
const LEASE_MS = 6_000;

interface Worker {
  readonly process: ChildProcess;
  readonly begun: Set<string>;
  readonly recorded: Set<string>;
  /** Domains that were being scanned when their lease ran out. */
  readonly overrun: Set<string>;
  readonly exited: Promise<unknown>;
}

describe('scan work shared by processes', { skip: binaries ? false : notice }, async () => {
  const server = await postgresServer();
  const workers: Worker[] = [];
  after(async () => {
    for (const { process } of workers) process.kill('SIGKILL');
    await Promise.all(workers.map(({ exited }) => exited));
    await server[Symbol.asyncDispose]();
  });

  function start(url: string): Worker {
    const script = path.join(import.meta.dirname, '../../support/scanner-process.ts');
    const child = spawn(process.execPath, [script, url, String(LEASE_MS)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const worker = { begun: new Set<string>(), recorded: new Set<string>(), overrun: new Set<string>() };
    createInterface({ input: child.stdout }).on('line', (line) => {
      // Whoever is killed may leave half a line.
      if (!line.endsWith('}')) return;
      const { begun, recorded, overrun = [] } = JSON.parse(line);
      if (begun) worker.begun.add(begun);
      if (recorded) worker.recorded.add(recorded);
      for (const domain of overrun) worker.overrun.add(domain);
    });
    const started = { process: child, ...worker, exited: once(child, 'exit') };
    workers.push(started);
    return started;
  }

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + 120_000; !(await isSo()); await delay(50))
      if (Date.now() > deadline) throw new Error('it did not come about');
  }

  it('scans every domain, also those of a process that was killed, and none twice but where a lease ran out', async (t) => {
    const url = await server.fresh();
    await using store = await openStore(url);
    await store.addDomains(
      Array.from({ length: DOMAINS }, (_, n) => `d${n}.com`),
      { source: 'test' },
    );
    await store.addDomains(['private.com'], { source: 'test' });
    const [killed, other, third] = [start(url), start(url), start(url)];
    await until(() => killed.recorded.size > DOMAINS / 10);
    killed.process.kill('SIGKILL');
    await killed.exited;
    const lost = [...killed.begun].filter((domain) => !killed.recorded.has(domain)).length;
    await until(() => other.recorded.size > DOMAINS / 10 && third.recorded.size > DOMAINS / 10);
    third.process.kill('SIGTERM');
    await third.exited;
    assert.equal(third.process.exitCode, 0);
    assert.deepEqual(new Set(third.begun), third.recorded, 'who stops ends what it has begun');
    await until(async () => (await store.work.progress(new Date())).upToDate === DOMAINS + 1);
    other.process.kill('SIGTERM');
    await other.exited;

    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const counts = await client.query<{ name: string; scans: string }>(
      'select name, count(scans.id) as scans from domains left join scans on domain_id = domains.id group by name',
    );
    const leases = await client.query('select 1 from scan_leases where holder is not null');
    await client.end();
    const scansOf = new Map(counts.rows.map(({ name, scans }) => [name, Number(scans)]));
    assert.equal(scansOf.get('private.com'), 0);
    scansOf.delete('private.com');
    assert.equal([...scansOf.values()].filter((scans) => scans > 0).length, DOMAINS, 'every domain was scanned');
    for (const { recorded } of workers)
      for (const name of recorded) assert.ok(scansOf.get(name), 'what was told is there');
    const twice = [...scansOf].filter(([, scans]) => scans > 1).map(([name]) => name);
    const overrun = new Set(workers.flatMap((worker) => [...worker.overrun]));
    t.diagnostic(
      `${lost} scans were cut off by the kill, ${overrun.size} leases ran out, ${twice.length} domains were scanned twice`,
    );
    assert.deepEqual(
      twice.filter((name) => !overrun.has(name)),
      [],
    );
    assert.equal(leases.rowCount, 0, 'nothing is held by anybody any more');
    assert.equal((await store.counts()).services, 3 * DOMAINS);
  });
});
