// Which jobs are removed to make space, and one payment for requests that come at once.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { memory, onEach, postgres } from '../store/test/backends.ts';
import type { Job } from './job.ts';
import { surplusOf } from './job-limits.ts';
import { Jobs } from './jobs.ts';

const now = () => new Date('2026-03-01T12:00:00Z');
const job = (key_id: string, n: number, gib = 0, ended_at = '2026-03-01T11:00:00Z') =>
  ({ key_id, id: `${key_id}${n}`, state: 'complete', ended_at, file: { size_bytes: gib * 1024 ** 3 } }) as Job;
const many = (key: string, count: number) => Array.from({ length: count }, (_, i) => job(key, i));
const keys20 = Array.from('abcdefghijklmnopqrst').flatMap((key) => many(key, 10));

for (const [why, jobs, removed] of [
  ['old ones', [job('a', 1, 0, '2026-02-28T11:59:59Z'), job('a', 2)], ['a1']],
  ['the oldest of a key with too many', [...many('b', 3), ...many('a', 12)], ['a0', 'a1']],
  ['the oldest of the key with most bytes', [job('b', 1, 0.9), job('a', 1, 1.5), job('a', 2, 2)], ['a1']],
  ['none that is unfinished', [{ ...job('a', 1, 9), state: 'running' } as Job], []],
  ['the oldest of the key with most jobs', [...many('z', 10), ...keys20.slice(0, 191)], ['z0']],
] as const)
  it(`removes ${why}`, () => assert.deepEqual(surplusOf(jobs, now()), removed));

onEach([memory, postgres], 'a file', (_backend, test) => {
  test('is charged once at all nodes, also when the first of several payments fails', async ({ jobs: table }) => {
    await using one = await temporaryDirectory();
    await using two = await temporaryDirectory();
    const notary = { signBytes: async () => ({}) } as never;
    const sourceOf = () => ({ columns: [], batches: [[['x']]] });
    const deps = { table, notary, logger: pino({ enabled: false }), now, sourceOf };
    const jobs = await Jobs.open({ ...deps, directory: one.path });
    const other = table.isShared ? await Jobs.open({ ...deps, directory: two.path }) : jobs;
    const stopping = new AbortController();
    const { signal } = stopping;
    const running = jobs.run(signal);
    const order = {
      ...{ key_id: 'a', table: 't', format: 'csv' as const, fields: null, filter: {}, upload: null, max_rows: null },
    } as const;
    const ended = await other.ended(await other.start(order), { waitMs: 10_000, signal });
    const charged: number[] = [];
    const charge = async (requests: number) => {
      await new Promise(setImmediate);
      if (charged.push(requests) === 1) throw new Error('no quota');
    };
    const asked = await Promise.allSettled([jobs, other, jobs, other].map((node) => node.fileOf(ended, charge)));
    stopping.abort();
    await running;
    const states = asked.map(({ status }) => status).sort();
    assert.deepEqual(
      [states, charged],
      [
        [...Array(3).fill('fulfilled'), 'rejected'],
        [1, 1, 0, 0],
      ],
    );
  });
});
