import assert from 'node:assert/strict';
import { readFile, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { type DomainIndex, searchDomains } from '@strata/analytics';
import { entries } from '@strata/catalog';
import { compileRulebook, detect, type Evidence, evidenceFromRecord, loadCatalog, type Rulebook } from '@strata/detect';
import { createLogger } from '@strata/http';
import { openStore, type Store } from '@strata/store';
import fc from 'fast-check';
import { LiveIndex } from './live-index.ts';
import { temporaryDirectory } from './test/harness.ts';

const rulebook = compileRulebook(loadCatalog(entries));
const otherRulebook = compileRulebook(
  loadCatalog(entries.filter((entry) => (entry as { id: string }).id !== 'google-workspace')),
);
const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T00:00:00Z');
const logger = createLogger({ level: 'silent' });

const EXCHANGES = ['aspmx.l.google.com', 'x.mail.protection.outlook.com', 'mx.zoho.com', null];
const SERVERS = ['ada.ns.cloudflare.com', 'ns1.p01.nsone.net', 'ns-1.awsdns-01.org', 'ns1.own.test'];
const WEB_SERVERS = ['nginx/1.18.0 (Ubuntu)', 'nginx/1.20.1', 'Apache/2.4.52 (Win64) PHP/8.1.2', undefined];
const DMARC = ['v=DMARC1; p=reject', 'v=DMARC1; p=none; rua=mailto:x@vali.email', undefined];

/** One look at one of a few domains; each number picks what it finds. */
interface Look {
  readonly domain: number;
  readonly hours: number;
  readonly exchange: number;
  readonly server: number;
  readonly dmarc: number;
  readonly webServer: number;
  readonly isFailed: boolean;
  readonly hasOtherRules: boolean;
}

const lookOf = fc.record({
  domain: fc.nat(5),
  hours: fc.integer({ min: 1, max: 60 }),
  exchange: fc.nat(EXCHANGES.length - 1),
  server: fc.nat(SERVERS.length - 1),
  dmarc: fc.nat(DMARC.length - 1),
  webServer: fc.nat(WEB_SERVERS.length - 1),
  isFailed: fc.boolean(),
  hasOtherRules: fc.boolean(),
});

function evidenceOf(look: Look, at: string): Evidence {
  const exchange = EXCHANGES[look.exchange];
  const dmarc = DMARC[look.dmarc];
  const webServer = WEB_SERVERS[look.webServer];
  const base = evidenceFromRecord({
    domain: `company-${look.domain}.com`,
    ns: [SERVERS[look.server]],
    ...(exchange ? { mx: [{ preference: 1, exchange }] } : {}),
    ...(dmarc ? { dmarc } : {}),
    ...(webServer ? { headers: { server: webServer } } : {}),
    txt: ['v=spf1 -all'],
  });
  const asked = Object.entries(base.dns).map(([name, lookup]) => [
    name,
    'status' in lookup && lookup.status === 'skipped'
      ? { ...lookup, status: look.isFailed ? 'timeout' : 'empty' }
      : lookup,
  ]);
  const named = rulebook.probeLabels.map((label) => [label, { status: 'nxdomain', records: [], aliases: [] }]);
  const dns = { ...Object.fromEntries(asked), named: Object.fromEntries(named) } as Evidence['dns'];
  return { ...base, observedAt: at, dns };
}

async function record(store: Store, look: Look, at: number): Promise<void> {
  const rules: Rulebook = look.hasOtherRules ? otherRulebook : rulebook;
  const evidence = evidenceOf(look, new Date(at).toISOString());
  const time = new Date(at);
  await store.recordScan(
    { profile: detect(evidence, rules), evidence, startedAt: time, finishedAt: time },
    { confirmAfterMs: 6 * HOUR, redetect: (old) => detect(old, rules) },
  );
}

/** Everything that answers are made of, in words. */
function told(index: DomainIndex) {
  const numbers = [...index.names.order()];
  const providers = index.vocabulary.providers.words().toSorted();
  return {
    position: index.position,
    domains: numbers.map((number) => [
      number,
      index.names.name(number),
      index.columns.facts(number),
      index.services(number),
    ]),
    history: index.history.describe(),
    // A provider that was and is no more leaves an empty set behind in the index that followed.
    providers: providers
      .map((provider) => [provider, searchDomains(index, { provider }, { limit: 100, offset: 0 })] as const)
      .filter(([, found]) => found.total > 0),
    builds: providers.flatMap((provider) =>
      index
        .buildsOf(provider)
        .map(({ version, platform, domains }) => `${provider} ${version} ${platform} ${[...domains.toArray()]}`)
        .toSorted(),
    ),
    services: index.tallies.services,
    states: index.domainsByState(),
  };
}

async function openIndex(store: Store, file: string): Promise<LiveIndex> {
  return await LiveIndex.open({ store, file, logger, onEvent: () => {}, onScans: () => {} });
}

describe('the live index', () => {
  it('that followed the log through restarts equals one built anew, whatever was scanned', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            { weight: 6, arbitrary: lookOf },
            { weight: 1, arbitrary: fc.constant('restart' as const) },
            { weight: 2, arbitrary: fc.constant('follow' as const) },
          ),
          { minLength: 5, maxLength: 40 },
        ),
        async (steps) => {
          await using directory = await temporaryDirectory();
          await using store = await openStore(`sqlite:${directory.path}/strata.db`);
          const file = path.join(directory.path, 'index.snapshot');
          let live = await openIndex(store, file);
          let now = START;
          for (const step of steps) {
            if (step === 'follow') await live.catchUp();
            else if (step === 'restart') {
              await live[Symbol.asyncDispose]();
              live = await openIndex(store, file);
            } else {
              now += step.hours * HOUR;
              await record(store, step, now);
            }
          }
          await live.catchUp();
          await using built = await openIndex(store, path.join(directory.path, 'none'));
          assert.deepEqual(told(live.index), told(built.index));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('starts from its snapshot, and builds anew when that is cut off, damaged, foreign or ahead of the store', async () => {
    await using directory = await temporaryDirectory();
    const file = path.join(directory.path, 'index.snapshot');
    const lines: string[] = [];
    const logging = createLogger({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const open = async (store: Store) =>
      await LiveIndex.open({ store, file, logger: logging, onEvent: () => {}, onScans: () => {} });
    const lastStart = () => JSON.parse(lines.at(-1) ?? '{}') as { from: string; snapshot?: string; domains: number };
    const look: Look = {
      domain: 1,
      hours: 1,
      exchange: 0,
      server: 0,
      dmarc: 0,
      webServer: 3,
      isFailed: false,
      hasOtherRules: false,
    };

    await using store = await openStore(`sqlite:${directory.path}/strata.db`);
    await record(store, look, START);
    await (await open(store))[Symbol.asyncDispose]();
    assert.equal(lastStart().from, 'store');
    await record(store, { ...look, domain: 2 }, START + HOUR);
    await (await open(store))[Symbol.asyncDispose]();
    assert.deepEqual([lastStart().from, lastStart().domains, lastStart().snapshot], ['snapshot', 2, undefined]);

    const good = await readFile(file);
    await truncate(file, (await stat(file)).size - 1);
    await (await open(store))[Symbol.asyncDispose]();
    assert.match(lastStart().snapshot ?? '', /cut off/);
    const damaged = Buffer.from(good);
    damaged.writeUInt8(damaged.readUInt8(good.length - 9) ^ 1, good.length - 9);
    await writeFile(file, damaged);
    await (await open(store))[Symbol.asyncDispose]();
    assert.match(lastStart().snapshot ?? '', /damaged/);
    await writeFile(file, 'something else altogether');
    await (await open(store))[Symbol.asyncDispose]();
    assert.match(lastStart().snapshot ?? '', /no snapshot/);

    await writeFile(file, good);
    await using foreign = await openStore(`sqlite:${directory.path}/other.db`);
    await (await open(foreign))[Symbol.asyncDispose]();
    assert.deepEqual([lastStart().from, lastStart().domains], ['store', 0]);
  });

  it('names what an event touches', async () => {
    await using directory = await temporaryDirectory();
    await using store = await openStore(`sqlite:${directory.path}/strata.db`);
    const touched: string[][] = [];
    await using live = await LiveIndex.open({
      store,
      file: path.join(directory.path, 'index.snapshot'),
      logger,
      onEvent: (_event, taken) => void touched.push([...taken.tags].sort()),
      onScans: () => {},
    });
    const look: Look = {
      domain: 1,
      hours: 1,
      exchange: 3,
      server: 0,
      dmarc: 0,
      webServer: 3,
      isFailed: false,
      hasOtherRules: false,
    };
    await record(store, look, START);
    await live.catchUp();
    assert.deepEqual(touched, [['category:dns', 'domains', 'provider:cloudflare']]);
    touched.length = 0;
    await record(store, { ...look, server: 1 }, START + 10 * HOUR);
    await record(store, { ...look, server: 1 }, START + 20 * HOUR);
    await live.catchUp();
    const all = new Set(touched.flat());
    assert.deepEqual([...all].sort(), ['category:dns', 'changes', 'domains', 'provider:cloudflare', 'provider:ns1']);
  });
});
