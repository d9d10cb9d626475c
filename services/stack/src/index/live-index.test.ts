import assert from 'node:assert/strict';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { type DomainIndex, STATES, searchDomains } from '@strata/analytics';
import { mainRoleOf } from '@strata/detect';
import { createLogger } from '@strata/http';
import fc from 'fast-check';
import { rulebook, rulebookWithout } from '../../../../tests/support/rulebook.ts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { EventBus } from '../events.ts';
import { openStore, type Store } from '../store/index.ts';
import { evidenceAt, HOUR_MS, recordScan } from '../test/recorded-scans.ts';
import { LiveIndex } from './live-index.ts';

const otherRulebook = rulebookWithout('google-workspace');
const START = Date.parse('2026-01-01T00:00:00Z');
const logger = createLogger({ level: 'silent' });

const EXCHANGES = ['aspmx.l.google.com', 'x.mail.protection.outlook.com', 'mx.zoho.com', null];
const SERVERS = ['ada.ns.cloudflare.com', 'ns1.p01.nsone.net', 'ns-1.awsdns-01.org', 'ns1.own.test'];
const WEB_SERVERS = ['nginx/1.18.0 (Ubuntu)', 'nginx/1.20.1', 'Apache/2.4.52 (Win64) PHP/8.1.2', undefined];
const DMARC = ['v=DMARC1; p=reject', 'v=DMARC1; p=none; rua=mailto:x@vali.email', undefined];

/** One scan of one of a few domains; each number picks what it finds. */
const anyScan = fc.record({
  domain: fc.nat(5),
  hours: fc.integer({ min: 1, max: 60 }),
  exchange: fc.nat(EXCHANGES.length - 1),
  server: fc.nat(SERVERS.length - 1),
  dmarc: fc.nat(DMARC.length - 1),
  webServer: fc.nat(WEB_SERVERS.length - 1),
  isFailed: fc.boolean(),
  hasOtherRules: fc.boolean(),
});

const stepOf = fc.oneof(
  { weight: 6, arbitrary: anyScan },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
  { weight: 2, arbitrary: fc.constant('follow' as const) },
  { weight: 1, arbitrary: fc.constant('prune' as const) },
  { weight: 1, arbitrary: fc.constant('forget' as const) },
);

type ScanCase = typeof anyScan extends fc.Arbitrary<infer T> ? T : never;

async function record(store: Store, scanCase: ScanCase, at: number): Promise<void> {
  const exchange = EXCHANGES[scanCase.exchange];
  const dmarc = DMARC[scanCase.dmarc];
  const webServer = WEB_SERVERS[scanCase.webServer];
  const found = {
    domain: `company-${scanCase.domain}.com`,
    ns: [SERVERS[scanCase.server] ?? ''],
    ...(exchange ? { mx: [{ preference: 1, exchange }] } : {}),
    ...(dmarc ? { dmarc } : {}),
    ...(webServer ? { headers: { server: webServer } } : {}),
    txt: ['v=spf1 -all'],
  };
  const evidence = evidenceAt(found, at, { unnamed: scanCase.isFailed ? 'timeout' : 'empty' });
  await recordScan(store, evidence, scanCase.hasOtherRules ? otherRulebook : rulebook);
}

/** Deletes all events and scans that may be deleted, also those that no reader has read yet. */
async function pruneAll(store: Store, now: number): Promise<void> {
  await store.signals.setWatched({ seq: await store.events.latestSeq(), day: 0 });
  const cursor = (await store.stream.cursor()) ?? 0;
  await store.stream.begin(cursor, 1);
  await store.stream.append([], { from: cursor, to: await store.events.latestSeq() });
  for (const table of ['events', 'scans'] as const)
    while (await store.retention.prune(table, { before: new Date(now + 1), limit: 3 }));
}

const FOUND = { domain: 1, hours: 1, exchange: 0, server: 0, dmarc: 0, webServer: 3 };
const FIRST: ScanCase = { ...FOUND, isFailed: false, hasOtherRules: false };

/** Everything that answers are made of. */
function contentsOf(index: DomainIndex) {
  const { names, columns } = index;
  const providers = index.vocabulary.providers.words().toSorted();
  const usersOf = (provider: string) => searchDomains(index, { provider }, { limit: 100, offset: 0 });
  const buildsOf = (provider: string) =>
    index.buildsOf(provider).map(({ domains, ...build }) => JSON.stringify([provider, build, [...domains.toArray()]]));
  return {
    position: index.position,
    domains: [...names.sorted.numbers()].map((at) => [at, names.name(at), columns.facts(at), index.services(at)]),
    history: index.history.describe(),
    // A provider that was and is no more leaves an empty set behind in the index that followed.
    providers: providers.map(usersOf).filter(({ total }) => total > 0),
    builds: providers.flatMap(buildsOf).toSorted(),
    services: index.tallies.services,
    states: STATES.map((_, state) => index.tallies.domains([state])),
  };
}

const openIndex = (store: Store, file: string, more: { logger?: typeof logger; events?: EventBus } = {}) =>
  LiveIndex.open({ store, file, logger, events: new EventBus(logger), rulebook: { roleOf: mainRoleOf }, ...more });

it('the live index updated from the log through restarts equals a rebuilt one, for any scans', () =>
  fc.assert(
    fc.asyncProperty(fc.array(stepOf, { minLength: 5, maxLength: 40 }), async (steps) => {
      await using directory = await temporaryDirectory();
      await using store = await openStore(`sqlite:${directory.path}/strata.db`);
      const file = path.join(directory.path, 'index.snapshot');
      let live = await openIndex(store, file);
      let now = START;
      for (const step of steps) {
        if (step === 'follow') await live.catchUp();
        else if (step === 'prune') await pruneAll(store, now);
        else if (step === 'forget')
          await store.retention.forgetDomains({ before: new Date(now), limit: 2, now: new Date(now) });
        else if (step === 'restart') {
          await live[Symbol.asyncDispose]();
          live = await openIndex(store, file);
        } else {
          now += step.hours * HOUR_MS;
          await record(store, step, now);
        }
      }
      await live.catchUp();
      // Ends a save before the directory is removed.
      await live[Symbol.asyncDispose]();
      await using built = await openIndex(store, path.join(directory.path, 'none'));
      assert.deepEqual(contentsOf(live.index), contentsOf(built.index));
    }),
    { numRuns: 25 },
  ));

it('the live index starts from its snapshot, and is rebuilt if that is truncated, damaged, foreign or ahead of the store', async () => {
  await using directory = await temporaryDirectory();
  const file = path.join(directory.path, 'index.snapshot');
  const lines: string[] = [];
  const logging = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const start = async (store: Store) => {
    await (await openIndex(store, file, { logger: logging }))[Symbol.asyncDispose]();
    return JSON.parse(lines.at(-1) ?? '{}') as { from: string; snapshot?: string; domains: number };
  };

  await using store = await openStore(`sqlite:${directory.path}/strata.db`);
  await record(store, FIRST, START);
  assert.equal((await start(store)).from, 'store');
  await record(store, { ...FIRST, domain: 2 }, START + HOUR_MS);
  const { from, domains, snapshot } = await start(store);
  assert.deepEqual([from, domains, snapshot], ['snapshot', 2, undefined]);

  const good = await readFile(file);
  const damaged = Buffer.from(good);
  damaged.writeUInt8(damaged.readUInt8(good.length - 9) ^ 1, good.length - 9);
  const WRONG = { truncated: good.subarray(0, -1), damaged, 'not a snapshot': 'something else altogether' };
  for (const [problem, bytes] of Object.entries(WRONG)) {
    await writeFile(file, bytes);
    assert.match((await start(store)).snapshot ?? '', new RegExp(problem));
  }

  await writeFile(file, good);
  await using foreign = await openStore(`sqlite:${directory.path}/other.db`);
  assert.partialDeepStrictEqual(await start(foreign), { from: 'store', domains: 0 });
});
it('the live index is rebuilt if unread events or scans were deleted, at run time and at a start', async () => {
  await using directory = await temporaryDirectory();
  await using store = await openStore(`sqlite:${directory.path}/strata.db`);
  const file = path.join(directory.path, 'index.snapshot');
  // What a kill left, of this version and an earlier one.
  for (const name of ['4711', 'a-uuid']) {
    await writeFile(`${file}.${name}.new`, 'half');
    await utimes(`${file}.${name}.new`, 0, 0);
  }
  const rebuilds: number[] = [];
  const events = new EventBus(logger);
  events.subscribe('index-rebuilt', () => rebuilds.push(1));
  await using live = await openIndex(store, file, { events });
  const { index } = live;
  const left = (await readdir(directory.path)).filter((name) => name.endsWith('.new'));
  assert.deepEqual(left, []);
  for (const [domain, deleted] of [true, false, true].entries()) {
    for (const hours of [0, 10, 20]) await record(store, { ...FIRST, domain }, START + hours * HOUR_MS);
    if (deleted) await pruneAll(store, START + 30 * HOUR_MS);
    await live.catchUp();
    const expected = [domain + 1, 3 * domain + 3, domain === 2 ? 2 : 1];
    assert.deepEqual([index.size, index.history.scans.total, rebuilds.length], expected);
  }
  await live.save();
  await record(store, { ...FIRST, domain: 3 }, START + 40 * HOUR_MS);
  await record(store, { ...FIRST, domain: 3 }, START + 41 * HOUR_MS);
  assert.equal(await store.feed.reaches(index.position), true);
  await pruneAll(store, START + 50 * HOUR_MS);
  assert.equal(await store.feed.reaches(index.position), false, 'a scan is deleted, though no event is');
  await using later = await openIndex(store, file);
  assert.deepEqual([later.index.size, later.index.history.scans.total], [4, 11]);
});
it('the live index names what an event touches', async () => {
  await using directory = await temporaryDirectory();
  await using store = await openStore(`sqlite:${directory.path}/strata.db`);
  const touched: string[][] = [];
  const events = new EventBus(logger);
  events.subscribe('event-indexed', ({ effects }) => touched.push([...effects.tags].sort()));
  await using live = await openIndex(store, path.join(directory.path, 'index.snapshot'), { events });
  const scanCase: ScanCase = { ...FIRST, exchange: 3 };
  await record(store, scanCase, START);
  await live.catchUp();
  assert.deepEqual(touched, [['category:dns', 'domains', 'provider:cloudflare']]);
  touched.length = 0;
  await record(store, { ...scanCase, server: 1 }, START + 10 * HOUR_MS);
  await record(store, { ...scanCase, server: 1 }, START + 20 * HOUR_MS);
  await live.catchUp();
  const tags = [...new Set(touched.flat())].sort();
  assert.equal(tags.join(' '), 'category:dns changes domains provider:cloudflare provider:ns1');
  const change = touched.find((each) => each.includes('changes'));
  assert.deepEqual(change, ['changes', 'provider:cloudflare', 'provider:ns1']);
});
