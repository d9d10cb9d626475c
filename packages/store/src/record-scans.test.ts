// Scans recorded in batches: as if one after another, whatever they are of, and whoever records beside.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { detect, type Evidence, type Rulebook } from '@strata/detect';
import { openStore, type RecordedScan, type RecordOptions, type ScanRecord, type Store } from './index.ts';
import { kept, onEach, postgres, rows } from './test/places.ts';
import {
  confirm,
  day,
  GOOGLE,
  HOUR,
  MICROSOFT,
  rulebook,
  rulebookWithout,
  scanOf,
  withServer,
  withTxt,
} from './test/scans.ts';

const TABLES = ['domains', 'services', 'scans', 'changes', 'events', 'evidence'] as const;
const OTHER_RULES = rulebookWithout('google-workspace');

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

interface Batch {
  readonly scans: readonly ScanRecord[];
  readonly options: RecordOptions;
}

/** Weeks of looks at a few domains: they move, cannot be measured, are late, come twice, and are read by changing rules. */
function historyOf(seed: number): Batch[] {
  const random = randomOf(seed);
  return Array.from({ length: 14 }, (_, n) => {
    const rules = random(4) === 0 ? OTHER_RULES : rulebook;
    const redetect = (evidence: Evidence) => detect(evidence, rules);
    const options = { ...confirm, ...(random(5) > 0 ? { redetect } : {}) };
    const scans = Array.from({ length: 1 + random(24) }, () => lookAt(`d${random(9 + n)}.com`, n, rules, random));
    return { scans: random(3) === 0 ? [...scans, ...scans.slice(0, 2)] : scans, options };
  });
}

function lookAt(domain: string, n: number, rules: Rulebook, random: (below: number) => number): ScanRecord {
  const lateHours = random(6) === 0 ? 40 : random(10);
  const at = new Date(Date.parse(day(n)) - lateHours * HOUR).toISOString();
  const exchange = [GOOGLE, GOOGLE, MICROSOFT, null][random(4)] ?? null;
  const plain = scanOf(domain, at, exchange, rules);
  const txt = [['google-site-verification=x'], ['MS=ms1', 'v=spf1 -all'], ['a\0\\u0000"b'], []][random(4)] ?? [];
  const scan = withTxt(plain, txt, rules);
  if (random(7) === 0) return { ...scan, profile: { ...scan.profile, state: 'unmeasured', services: [] } };
  if (random(9) === 0) return { ...scan, profile: { ...scan.profile, state: 'nonexistent', services: [] } };
  return rules === rulebook && random(4) === 0 ? withServer(scan, `nginx/1.${random(3)}.0`) : scan;
}

const everyTable = (url: string) => Promise.all(TABLES.map((table) => rows(url, `select * from ${table} order by 1`)));

async function oneByOne(store: Store, batches: readonly Batch[]): Promise<RecordedScan[]> {
  const results = [];
  for (const { scans, options } of batches)
    for (const scan of scans) results.push(await store.recordScan(scan, options));
  return results;
}

async function inBatches(store: Store, batches: readonly Batch[]): Promise<RecordedScan[]> {
  const results = [];
  for (const { scans, options } of batches)
    for (const result of await store.recordScans(scans, options)) {
      if (result.status === 'rejected') throw result.reason;
      results.push(result.value);
    }
  return results;
}

onEach(kept, 'scans in batches', (place) => {
  it('leave every table as the same scans do one by one', async () => {
    let changes = 0;
    for (let seed = 1; seed <= 12; seed += 1) {
      const batches = historyOf(seed);
      const [url, other] = [await place.fresh(), await place.fresh()];
      await using single = await openStore(url);
      await using bulk = await openStore(other);
      await bulk.addDomains(['d1.com', 'd20.com'], { source: 'list' });
      await single.addDomains(['d1.com', 'd20.com'], { source: 'list' });
      const results = await oneByOne(single, batches);
      assert.deepEqual(await inBatches(bulk, batches), results, `seed ${seed}`);
      const [expected, found] = [await everyTable(url), await everyTable(other)];
      for (const [n, table] of TABLES.entries()) {
        // When a listed domain was added is by the clock.
        const timeless = (all: (typeof found)[number] = []) =>
          all.map((row) => (row.source === 'list' ? { ...row, created_at: 0 } : row));
        assert.deepEqual(timeless(found[n]), timeless(expected[n]), `${table}, seed ${seed}`);
      }
      changes += results.flatMap((each) => each.changes).length;
    }
    assert.ok(changes > 100, `${changes} changes were confirmed`);
  });

  it('are recorded but for those that cannot be', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const good = (n: number) => scanOf(`d${n}.com`, day(0), GOOGLE);
    const timeless = { ...good(3), profile: { ...good(3).profile, observedAt: 'yesterday' } };
    const refused = { ...good(5), startedAt: new Date(Number.NaN) };
    const batch = [good(0), good(1), good(2), timeless, good(4), refused, good(6), good(0)];
    const results = await store.recordScans(batch, confirm);
    assert.deepEqual(
      results.map(({ status }) => status),
      batch.map((scan) => (scan === timeless || scan === refused ? 'rejected' : 'fulfilled')),
    );
    const [, , , why] = results;
    assert.match(String(why?.status === 'rejected' && why.reason), /d3\.com does not say when it was made/);
    assert.deepEqual(await store.counts(), { domains: 5, scannedDomains: 5, services: 15, scans: 6, changes: 0 });
    await assert.rejects(store.recordScan(refused, confirm));
    assert.deepEqual(await store.recordScans([], confirm), []);
  });

  it('are more than a transaction takes, and each once', async () => {
    await using store = await openStore(await place.fresh());
    const scans = Array.from({ length: 700 }, (_, n) => scanOf(`d${n}.com`, day(0), GOOGLE));
    const results = await store.recordScans(scans, confirm);
    assert.equal(results.filter((each) => each.status === 'fulfilled' && each.value.isFirst).length, 700);
    assert.deepEqual(await store.counts(), {
      domains: 700,
      scannedDomains: 700,
      services: 2_100,
      scans: 700,
      changes: 0,
    });
  });
});

onEach([postgres], 'batches of several processes', ({ fresh }) => {
  it('are of the same domains, and come out as if one scan had been recorded after another', async () => {
    const url = await fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    const exchangeOn = (n: number) => (n % 4 < 2 ? GOOGLE : MICROSOFT);
    const names = Array.from({ length: 10 }, (_, n) => `d${n}.com`);
    const look = (n: number) => names.map((name) => scanOf(name, day(n), exchangeOn(n)));
    // All at once: what is planned before the turn is overtaken by others' writing again and again.
    const recorded = await Promise.all(
      [one, two].flatMap((store) => Array.from({ length: 8 }, (_, n) => store.recordScans(look(n), confirm))),
    );
    assert.ok(recorded.flat().every(({ status }) => status === 'fulfilled'));
    const order = await rows(
      url,
      'select name, observed_at from scans join domains on domains.id = domain_id order by scans.id',
    );
    assert.equal(order.length, 160);
    await using alone = await openStore('sqlite::memory:');
    for (const { name, observed_at } of order) {
      const n = (Number(observed_at) - Date.parse(day(0))) / (24 * HOUR);
      await alone.recordScan(scanOf(String(name), day(n), exchangeOn(n)), confirm);
    }
    assert.deepEqual(await one.eventsSince(0, 10_000), await alone.eventsSince(0, 10_000));
    for (const name of names) {
      const page = { limit: 100, offset: 0 };
      assert.deepEqual(await one.domain(name), await alone.domain(name));
      assert.deepEqual(await one.changes(name, page), await alone.changes(name, page));
    }
  });
});
