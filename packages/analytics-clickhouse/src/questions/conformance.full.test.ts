// ClickHouse in this process answers every question as the memory does, with the tables filled by the exporter.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { DAY_MS, dayOf, memoryAnalytics } from '@strata/analytics';
import { indexOfWorld, questionsAbout, roleOf, type World, worldAt } from '@strata/analytics/conformance';
import { fc } from '../../../../tests/support/property.ts';
import { openClickHouse } from '../connection/clickhouse.ts';
import { ClickHouseError } from '../connection/clickhouse-error.ts';
import { Exporter } from '../export/exporter.ts';
import type { ExportSource } from '../export/source.ts';
import { clickHouseAnalytics } from './clickhouse-analytics.ts';

/** Migrations older than their retention would be removed. */
const TODAY = dayOf(Date.now() - DAY_MS);

const folder = await mkdtemp(path.join(tmpdir(), 'strata-conformance-'));
const clickhouse = await openClickHouse(`chdb:${folder}`).catch((error: unknown) => {
  if (error instanceof ClickHouseError && error.kind === 'unavailable') return undefined;
  throw error;
});

it('ClickHouse answers every question as memory does', {
  skip: clickhouse ? false : 'chdb is not installed',
}, async () => {
  assert.ok(clickhouse);
  await using _closed = clickhouse;
  const engine = clickHouseAnalytics(clickhouse);
  for (const seed of [1, 2, 3]) {
    const [world] = fc.sample(worldAt(TODAY), { seed, numRuns: 1 });
    assert.ok(world);
    const exporter = await Exporter.open({ clickhouse, source: sourceOf(world, `world ${seed}`), roleOf });
    while (await exporter.step());
    const memory = memoryAnalytics(indexOfWorld(world));
    const [questions = []] = fc.sample(questionsAbout(world), { seed, numRuns: 1 });
    for (const [name, ask] of questions) assert.deepEqual(await ask(engine), await ask(memory), `${seed}: ${name}`);
  }
  await rm(folder, { recursive: true });
});

/** The world as a store: its first events are two blocks, the rest another one. */
function sourceOf({ happenings, scans }: World, storeId: string): ExportSource {
  const events = happenings.map((each, i) => ({ ...each, seq: i + 1 }));
  return {
    storeId: async () => storeId,
    reaches: async () => true,
    readHistory: async () => ({ seq: 0, scanId: 0 }),
    domainsAfter: async () => ({ domains: [], last: undefined, seq: 0 }),
    eventsSince: async (seq) => events.slice(seq, seq + 170),
    scansSince: async (id) => scans.slice(id, id + 60).map((each, i) => ({ ...each, id: id + i + 1 })),
  };
}
