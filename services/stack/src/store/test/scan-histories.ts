// Scans of weeks, recorded one by one and in batches, and compared.
import assert from 'node:assert/strict';
import { detect, type Evidence, type Rulebook } from '@strata/detect';
import { randomFrom } from '../../../../../tests/support/random.ts';
import { rulebook, rulebookWithout } from '../../../../../tests/support/rulebook.ts';
import { openStore, type RecordedScan, type ScanRecord } from '../index.ts';
import { type Backend, rows } from './backends.ts';
import * as scans from './scans.ts';

const { confirm, day, GOOGLE, HOUR, MICROSOFT, scanOf, withServer, withTxt } = scans;
const TABLES = ['domains', 'services', 'scans', 'changes', 'events', 'evidence', 'scan_days', 'change_days'] as const;
const OTHER_RULES = rulebookWithout('google-workspace');

/** Weeks of scans of a few domains: they move, cannot be measured, are late, come twice, and are read by changing rules. */
function historyOf(seed: number) {
  const next = randomFrom(seed);
  const random = (below: number) => Math.floor(next() * below);
  return Array.from({ length: 14 }, (_, n) => {
    const rules = random(4) === 0 ? OTHER_RULES : rulebook;
    const redetect = (evidence: Evidence) => detect(evidence, rules);
    const options = { ...confirm, ...(random(5) > 0 ? { redetect } : {}) };
    const batch = Array.from({ length: 1 + random(24) }, () => randomScan(`d${random(9 + n)}.com`, n, rules, random));
    return { batch: random(3) === 0 ? [...batch, ...batch.slice(0, 2)] : batch, options };
  });
}

function randomScan(domain: string, n: number, rules: Rulebook, random: (below: number) => number): ScanRecord {
  const lateHours = random(6) === 0 ? 40 : random(10);
  const at = new Date(Date.parse(day(n)) - lateHours * HOUR).toISOString();
  const plain = scanOf(domain, at, [GOOGLE, GOOGLE, MICROSOFT, null][random(4)] ?? null, rules);
  const txt = [['google-site-verification=x'], ['MS=ms1', 'v=spf1 -all'], ['a\0\\u0000"b'], []][random(4)] ?? [];
  const scan = withTxt(plain, txt, rules);
  if (random(7) === 0) return { ...scan, profile: { ...scan.profile, state: 'unmeasured', services: [] } };
  if (random(9) === 0) return { ...scan, profile: { ...scan.profile, state: 'nonexistent', services: [] } };
  return rules === rulebook && random(4) === 0 ? withServer(scan, `nginx/1.${random(3)}.0`) : scan;
}

const everyTable = (url: string) =>
  Promise.all(TABLES.map((table) => rows(url, `select * from ${table} order by 1, 2, 3`)));

/** Fails unless batches leave every table as the same scans do one by one; returns how many changes were confirmed. */
export async function compareBatches(backend: Backend, seed: number): Promise<number> {
  const [url, other] = [await backend.fresh(), await backend.fresh()];
  await using single = await openStore(url);
  await using bulk = await openStore(other);
  for (const store of [single, bulk]) await store.domains.add(['d1.com', 'd20.com'], { source: 'list' });
  let changes = 0;
  for (const { batch, options } of historyOf(seed)) {
    const expected: RecordedScan[] = [];
    for (const scan of batch) expected.push(await scans.recordScan(single, scan, options));
    const fulfilled = expected.map((value) => ({ status: 'fulfilled', value }));
    assert.deepEqual(await bulk.recordScans(batch, options), fulfilled, `seed ${seed}`);
    changes += expected.flatMap((each) => each.changes).length;
  }
  // The time at which a listed domain was added is the clock's.
  for (const each of [url, other]) await rows(each, "update domains set created_at = 0 where source = 'list'");
  assert.deepEqual(await everyTable(other), await everyTable(url), `seed ${seed}`);
  return changes;
}
