// Which jobs are removed to make space, when a job begins again, and one payment for requests that come at once.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { it, mock } from 'node:test';
import { ClickHouseError } from '@strata/analytics-clickhouse';
import { StoreError } from '@strata/db';
import { pino } from 'pino';
import { casesOf, temporaryDirectory } from '../../../../tests/support/index.ts';
import { exec, kept, onEach, rows } from '../store/test/backends.ts';
import type { Job, JobOrder } from './job.ts';
import { surplusOf } from './job-limits.ts';
import { Jobs } from './jobs.ts';

const now = () => new Date('2026-03-01T12:00:00Z');
const jobsOf = ({ ids, gib = 0, ...more }: { readonly ids: string; readonly gib?: number }) => {
  const common = { state: 'complete', ended_at: '2026-03-01T11:00:00Z', file: { size_bytes: gib * 1024 ** 3 } };
  return ids.split(' ').map((id) => ({ ...common, key_id: id.charAt(0), id, ...more }) as Job);
};
const surplus = casesOf<[string, { ids: string }[], string[]][]>('stack', 'jobs that are removed to make space');
for (const [why, jobs, removed] of surplus)
  it(`removes ${why}`, () => assert.deepEqual(surplusOf(jobs.flatMap(jobsOf), now()), removed));

const notary = { signBytes: async () => ({}) } as never;
const sourceOf = () => ({ columns: [], batches: [[['x']]] });
const logger = pino({ enabled: false });
const order: JobOrder = {
  ...{ key_id: 'a', table: 't', format: 'csv', fields: null, filter: {}, upload: null, max_rows: null },
};

onEach(kept, 'a job', (_backend, test) => {
  test('has a file that is charged once at all nodes, also when a payment fails, or may have been made', async ({
    jobs: table,
  }) => {
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    await mkdir(path.join(one.path, 'lost+found'));
    const deps = { table, notary, logger, now, sourceOf };
    const jobs = await Jobs.open({ ...deps, directory: one.path });
    const other = table.isShared ? await Jobs.open({ ...deps, directory: two.path }) : jobs;
    const stopping = new AbortController();
    const { signal } = stopping;
    const running = jobs.run(signal);
    const written = async () => other.ended(await other.start(order), { waitMs: 10_000, signal });
    const [ended, lost] = [await written(), await written()];
    const charged: number[] = [];
    const charge = async (requests: number) => {
      await new Promise(setImmediate);
      if (charged.push(requests) === 1) throw new Error('no quota');
    };
    const payer = { charge, signal };
    const asked = await Promise.allSettled([jobs, other, jobs, other].map((node) => node.fileOf(ended, payer)));
    const cut = async () => Promise.reject(new StoreError('connection-lost'));
    await assert.rejects(other.fileOf(lost, { charge: cut, signal }), StoreError);
    await table.expireLeases();
    await other.fileOf(lost, payer);
    stopping.abort();
    await running;
    const states = asked.map(({ status }) => status).sort();
    assert.deepEqual(states, [...Array(3).fill('fulfilled'), 'rejected']);
    assert.deepEqual(charged, [1, 1, 0, 0, 0]);
    await assert.rejects(jobs.fileOf(lost, payer), { code: 'unavailable' });
  });

  test('begins again after five clean stops, an error of the database, and six times without ClickHouse', async ({
    jobs: table,
  }) => {
    await using directory = await temporaryDirectory();
    let [stopping, begun] = [new AbortController(), 0];
    const stop = () => stopping.abort();
    const source = () => {
      begun += 1;
      if (begun <= 5) stop();
      if (begun > 6 && begun <= 12) throw new ClickHouseError('unavailable', 'away');
      return sourceOf();
    };
    const deps = { table, notary, logger: { warn: stop } as never, now, sourceOf: source, directory: directory.path };
    const jobs = await Jobs.open(deps);
    const job = await jobs.start(order);
    const save = table.save.bind(table);
    mock.method(table, 'save', async (...saved: Parameters<typeof save>) => {
      if (begun === 6 && saved[0].file) throw new StoreError('connection-lost');
      return save(...saved);
    });
    for (; begun < 12; stopping = new AbortController()) {
      await jobs.run(stopping.signal);
      await table.expireLeases();
    }
    const running = jobs.run(stopping.signal);
    const ended = await jobs.ended(job, { waitMs: 10_000, signal: stopping.signal });
    stop();
    await running;
    assert.partialDeepStrictEqual(ended, { state: 'complete', attempts: 13, stops: 11 });
  });

  test('of another version is not taken and removed later, as is what a failed one wrote', async ({ jobs }, url) => {
    const [today, body] = [Date.now(), '{"attempts": 1, "file": null}'];
    const values = [`'new', ${today}, 0`, `'old', 0, 0`, `'failed', ${today}, 1`].map(
      (row) => `(${row}, '${body}', 0)`,
    );
    await exec(url, `insert into jobs (id, created_at, is_ended, body, lease_until) values ${values}`);
    if (jobs.isShared) await exec(url, `insert into job_chunks select id, 1, 0, ${today}, '' from jobs`);
    assert.equal(await jobs.take({ owner: 'a', ms: 1 }), undefined);
    await jobs.remove([]);
    const left = await rows(url, 'select id, lease_until from jobs order by id');
    const expected = ['failed', 'new'].map((id) => ({ id, lease_until: 0 }));
    assert.deepEqual(left, expected);
    const chunks = await rows(url, 'select job_id from job_chunks');
    assert.deepEqual(chunks, jobs.isShared ? [{ job_id: 'new' }] : []);
  });
});
