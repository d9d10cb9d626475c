// Processes in roles, killed at moments of chance while they work: nothing that any of them acknowledged is lost, nothing is doubled.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { checkStore, openStore } from '@strata/store';
import { createInternet, type Internet } from '@strata/testnet';
import { binaries, notice, type PostgresServer, startPostgres } from '../packages/store/src/test/postgres.ts';
import { confirm, day, GOOGLE, MICROSOFT, scanOf } from '../packages/store/src/test/scans.ts';
import { everyEvent, follow, get } from './support/node-answers.ts';
import { type NodeRole, type TestNode, type TestNodes, testNodes, until } from './support/nodes.ts';

/** Set it to 100 for a long look. */
const KILLS = Number(process.env.STRATA_TEST_KILLS ?? 12);
const DOMAINS = 60;
const ROLES: readonly NodeRole[] = ['api', 'api', 'scanner', 'scanner', 'scheduler', 'scheduler'];
/** Counted one by one, so that what was answered is what is counted. */
const FREE = 50;
/** Domains are looked at again after seconds, so that scanners never rest. */
const SETTINGS = { STRATA_RESCAN_HOURS: '0.003', STRATA_ON_DEMAND_PER_HOUR: '100000' };

interface Place {
  readonly role: NodeRole;
  node: TestNode | undefined;
  starting: Promise<void>;
}

/** Places for processes; one that was killed is started anew in its place. */
class Fleet {
  readonly #nodes: TestNodes;
  readonly #places: readonly Place[];
  readonly killed: Record<string, number> = {};

  constructor(nodes: TestNodes) {
    this.#nodes = nodes;
    this.#places = ROLES.map((role) => ({ role, node: undefined, starting: Promise.resolve() }));
  }

  async startAll(): Promise<void> {
    for (const place of this.#places) place.starting = this.#start(place);
    await this.settled();
  }

  async settled(): Promise<void> {
    await Promise.all(this.#places.map(({ starting }) => starting));
  }

  /** Some API node that is not known to be gone. */
  async api(): Promise<TestNode> {
    for (;;) {
      const apis = this.#places.flatMap(({ role, node }) => (role === 'api' && node ? [node] : []));
      const one = apis[Math.floor(Math.random() * apis.length)];
      if (one) return one;
      await delay(20);
    }
  }

  async killOne(): Promise<void> {
    const alive = this.#places.filter(({ node }) => node !== undefined);
    const place = alive[Math.floor(Math.random() * alive.length)];
    if (!place?.node) return this.settled();
    const { node } = place;
    place.node = undefined;
    this.killed[place.role] = (this.killed[place.role] ?? 0) + 1;
    await node.kill();
    place.starting = this.#start(place);
  }

  async #start(place: Place): Promise<void> {
    place.node = await this.#nodes.start(place.role, SETTINGS);
  }
}

/** Follows the stream wherever it is served, each time from where it was, until the signal aborts. */
async function followOn(fleet: Fleet, key: string, signal: AbortSignal) {
  const events: { readonly seq: number; readonly body: string }[] = [];
  let breaks = 0;
  let current: Awaited<ReturnType<typeof follow>> | undefined;
  const following = (async () => {
    while (!signal.aborted) {
      const last = events.at(-1)?.seq;
      const node = await fleet.api();
      const stream = await follow(node, key, last === undefined ? undefined : String(last)).catch(() => undefined);
      if (!stream) {
        await delay(50);
        continue;
      }
      current = stream;
      const gone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([stream.ended, gone]);
      await stream[Symbol.asyncDispose]();
      current = undefined;
      events.push(...stream.events);
      if (!signal.aborted) breaks += 1;
    }
  })();
  return { events, following, breaks: () => breaks, hasBegun: () => events.length + (current?.events.length ?? 0) > 0 };
}

describe('processes that are killed while they work', { skip: binaries ? false : notice }, () => {
  let server: PostgresServer;
  let internet: Internet;
  before(async () => {
    server = await startPostgres();
    internet = await createInternet({ domains: DOMAINS, hasFaults: false });
  });
  after(async () => {
    await internet?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  it('lose nothing that was acknowledged, and double nothing', { timeout: 1_500_000 }, async () => {
    const databaseUrl = await server.fresh();
    await using store = await openStore(databaseUrl, { poolSize: 3 });
    const scheduled = internet.domains().slice(0, DOMAINS / 2);
    const asked = internet.domains().slice(DOMAINS / 2);
    await store.addDomains(scheduled, { source: 'test' });
    const unlimited = await store.keys.create({ tier: 'unlimited' });
    const free = await Promise.all(Array.from({ length: KILLS }, () => store.keys.create({ tier: 'free' })));
    await using nodes = await testNodes({ databaseUrl, domains: DOMAINS, isApiSeeing: true });
    const fleet = new Fleet(nodes);
    await fleet.startAll();
    await until(
      'all domains are scanned once',
      () => store.counts(),
      ({ scannedDomains }) => scannedDomains >= scheduled.length,
    );

    const stopping = new AbortController();
    const stream = await followOn(fleet, unlimited.key, stopping.signal);
    const receipts = new Set<string>();
    const profiles = new Map<string, string>();
    const counted = new Map<string, number>();
    const working = async (work: () => Promise<void>) => {
      while (!stopping.signal.aborted) await work().catch(() => delay(20));
    };
    const note = (text: string) => {
      const { provenance, domain, scanned_at } = JSON.parse(text);
      receipts.add(provenance.ledger_receipt_id);
      return { domain, scanned_at } as { readonly domain?: string; readonly scanned_at?: string };
    };
    let n = 0;
    const load = [
      // Scans on demand, of names that nobody put on the list.
      working(async () => {
        const name = asked[Math.floor(Math.random() * asked.length)] ?? '';
        const answer = await get(await fleet.api(), `/stack/v1/domains/${name}`, unlimited.key);
        if (answer.status !== 200) return void (await delay(20));
        const told = note(answer.text);
        if (told.scanned_at) profiles.set(name, told.scanned_at);
      }),
      // Requests that count, each key to its end.
      ...Array.from({ length: 2 }, (_, lane) =>
        working(async () => {
          const key = free.filter((_, i) => i % 2 === lane).find(({ stored }) => (counted.get(stored.id) ?? 0) < FREE);
          if (!key) return void (await delay(100));
          const answer = await get(await fleet.api(), '/stack/v1/stats/providers', key.key);
          if (answer.status === 200) {
            note(answer.text);
            counted.set(key.stored.id, (counted.get(key.stored.id) ?? 0) + 1);
          }
          // What was lost with a process may have been counted: then the key ends before this count does.
          if (answer.status === 429) free.splice(free.indexOf(key), 1);
        }),
      ),
      // Changes that are confirmed with every second look, for the stream to tell.
      working(async () => {
        const exchange = n % 4 < 2 ? GOOGLE : MICROSOFT;
        await store.recordScan(scanOf('moving.example', day(n), exchange), confirm);
        n += 1;
        await delay(20);
      }),
    ];
    const keys = [...free];

    // From then on it knows where it was.
    await until('the stream has begun', async () => stream.hasBegun(), Boolean);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await delay(Math.random() * 1_500);
      await fleet.killOne();
    }
    await fleet.settled();
    await delay(1_000);
    stopping.abort();
    await Promise.all([...load, stream.following]);

    const node = await fleet.api();
    for (const id of receipts) {
      const { status } = await get(node, `/ledger/receipts/${id}`, unlimited.key);
      assert.equal(status, 200, `${id} was given out and is not in the ledger`);
    }
    for (const [name, scannedAt] of profiles) {
      const stored = await store.domain(name);
      assert.ok(stored && stored.scannedAt.getTime() >= Date.parse(scannedAt), `${name} was told`);
    }
    const day0 = new Date().toISOString().slice(0, 10);
    for (const { stored } of keys) {
      const used = await store.quota.used(stored.id, day0);
      const answered = counted.get(stored.id) ?? 0;
      assert.ok(used >= answered && used <= FREE, `${answered} answered, ${used} counted`);
    }
    const database = new URL(databaseUrl).pathname.slice(1);
    const twice = await server.sql(
      'select domain_id, observed_at from scans group by domain_id, observed_at having count(*) > 1',
      database,
    );
    assert.deepEqual(twice.rows, [], 'no scan stands twice');
    const changes = (await everyEvent(store)).filter(({ kind }) => kind === 'change-confirmed');
    const all = changes.map(({ seq }) => `ev_${String(seq).padStart(10, '0')}`);
    await using rest = await follow(node, unlimited.key, String(stream.events.at(-1)?.seq));
    await until(
      'all is told',
      async () => [...stream.events, ...rest.events].at(-1)?.body ?? '',
      (body) => body.includes(all.at(-1) ?? '-'),
    );
    const told = [...stream.events, ...rest.events].map(({ body }) => (JSON.parse(body) as { readonly id: string }).id);
    const isChange = new Set(all);
    assert.deepEqual(
      told.filter((id) => isChange.has(id)),
      all.slice(all.indexOf(told.find((id) => isChange.has(id)) ?? '')),
      'each change since it was followed is told once, in its order',
    );
    assert.equal(new Set(told).size, told.length);
    assert.deepEqual((await checkStore(databaseUrl)).findings, []);
    console.log(
      `${KILLS} kills (${JSON.stringify(fleet.killed)}): ${receipts.size} receipts, ${profiles.size} profiles, ${[...counted.values()].reduce((a, b) => a + b, 0)} counted requests, ${all.length} changes over ${stream.breaks()} breaks of the stream`,
    );
  });
});
