// ClickHouse, in this process or over HTTP, answers every question as the memory does, with the tables filled by the exporter.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Analytics, DAY_MS, type DomainFilter, DomainIndex, dayOf, memoryAnalytics } from '@strata/analytics';
import { indexOfWorld, questionsAbout, roleOf, type World, worldAt } from '@strata/analytics/conformance';
import { missingChdb } from '../../../../tests/support/clickhouse/missing-chdb.ts';
import { startClickHouseServer } from '../../../../tests/support/clickhouse/server.ts';
import { fc } from '../../../../tests/support/property.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { openClickHouse } from '../connection/clickhouse.ts';
import { Exporter } from '../export/exporter.ts';
import type { ExportSource } from '../export/source.ts';
import { clickHouseAnalytics } from './clickhouse-analytics.ts';

const empty = memoryAnalytics(new DomainIndex());
/** Migrations older than their retention would be removed. */
const TODAY = dayOf(Date.now() - DAY_MS);
const EARLY = { order: { by: 'changed_at', isDescending: true }, after: [1, 'a'], limit: 50, offset: 0 } as const;
const BELOW_UNIT = ['a key below a second', (engine: Analytics) => engine.search({ ...EARLY, filter: {} })] as const;

it('ClickHouse in this process answers every question as memory does', { skip: missingChdb }, async () => {
  await using folder = await temporaryDirectory();
  await assertSame(`chdb:${folder.path}`, [1, 2, 3]);
});

it('ClickHouse over HTTP answers every question as memory does', { skip: missingChdb }, async () => {
  await using server = await startClickHouseServer();
  await assertSame(server.url, [4]);
  for (const [from, to] of Object.entries({ pass: 'no', '/strata': '/other' })) {
    await using other = await openClickHouse(server.url.replace(from, to));
    await assert.rejects(other.query('SELECT 1'), { kind: 'refused' });
  }
});

async function assertSame(url: string, seeds: readonly number[]): Promise<void> {
  await using clickhouse = await openClickHouse(url);
  const engine = clickHouseAnalytics(clickhouse);
  for (const seed of seeds) {
    const [world] = fc.sample(worldAt(TODAY), { seed, numRuns: 1 });
    assert.ok(world);
    const exporter = await Exporter.open({ clickhouse, source: sourceOf(world, `world ${seed}`), roleOf });
    while (await exporter.step());
    const memory = memoryAnalytics(indexOfWorld(world));
    const [questions = []] = fc.sample(questionsAbout(world), { seed, numRuns: 1 });
    let trivial = 0;
    for (const [name, ask] of [...questions, ...(await longListsAbout(memory)), BELOW_UNIT]) {
      const answer = await ask(memory);
      assert.deepEqual(await ask(engine), answer, `${seed}: ${name}`);
      if (isDeepStrictEqual(answer, await ask(empty))) trivial += 1;
    }
    assert.ok(trivial < questions.length / 4, `${trivial} answers of ${questions.length} are those of an empty index`);
  }
}

/** Lists that are longer than a field of a request may be; what is in the world is at both ends. */
async function longListsAbout(memory: Analytics) {
  const { domains } = await memory.search({ filter: {}, limit: 100, offset: 0 });
  const builds = await memory.builds(domains.flatMap(({ services }) => services.map(([, product]) => product)));
  const around = <Of>(own: readonly Of[], count: number, other: (i: number) => Of): Of[] =>
    [own.slice(0, 2), Array.from({ length: count }, (_, i) => other(i)), own.slice(2)].flat() as Of[];
  const none = { version: null, platform: null, domains: 0, first: [] };
  const names = domains.map(({ name }) => name);
  const filters: DomainFilter[] = [
    { builds: around(builds, 20_000, (i) => ({ ...none, product: `'\\${i}` })) },
    { among: { names: around(names, 10_000, (i) => `${i}.example.com`.padStart(60, 'x')) } },
    { among: { ids: around([1, 2, 3, 700], 20_000, (i) => 1_000_000_000 + i) } },
  ];
  const search = { order: { by: 'score', isDescending: true }, limit: 50, offset: 5, facets: ['provider'] } as const;
  const ask = (filter: DomainFilter) => (engine: Analytics) => engine.search({ ...search, filter });
  return filters.map((filter) => [`a list of ${Object.keys(filter)}`, ask(filter)] as const);
}

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
