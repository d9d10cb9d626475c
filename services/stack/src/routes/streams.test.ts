// The event stream, live and polled. What the hub, the table and the socket do: stream-hub.test.ts, src/store, packages/http.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verifyAnswer } from '@strata/receipts';
import { type Body, moveDnsOf, scanTwice } from '../test/harness.ts';
import { type SharedService, startScanned } from '../test/shared.ts';
import { openStream, type StreamReader } from '../test/stream-reader.ts';

const LONG_AGO = '2020-01-01T00:00:00Z';

let service: SharedService;
let key: string;

/** Moves companies to another DNS provider, scans twice, and lets the service process it. */
async function move(count: number): Promise<string[]> {
  const moved = moveDnsOf(service.internet, count).map(({ domain }) => domain);
  await scanTwice(service, ...moved);
  await service.running.updateLoop.run();
  return moved;
}

async function poll(since: string, more = '') {
  const { status, body } = await service.get(`/stack/v1/stream/json?since=${encodeURIComponent(since)}${more}`);
  assert.equal(status, 200, JSON.stringify(body));
  return { body, events: body.events as Body[], next: String(body.next_since), hasMore: body.has_more === true };
}

/** Everything after a time, in pages of `limit`. */
async function pollAll(since: string, limit: number, between = async () => {}) {
  const ids: string[] = [];
  for (let next = since; ; await between()) {
    const page = await poll(next, `&limit=${limit}`);
    ids.push(...page.events.map((event) => String(event.id)));
    next = page.next;
    if (!page.hasMore) return { ids, next };
  }
}

const now = async () => (await pollAll(LONG_AGO, 1_000)).next;
const open = ({ query = '', ...options }: { lastEventId?: string; query?: string } = {}) =>
  openStream(`${service.base}/stack/v1/stream${query}`, { key, ...options });
const migration = async (stream: StreamReader) => JSON.parse((await stream.next('migration')).data) as Body;

describe('the event stream', () => {
  // Not the shared one: it is restarted, and its log is pruned.
  before(async () => {
    service = await startScanned();
    key = await service.newKey();
  });
  after(() => service?.[Symbol.asyncDispose]());

  it('sends a migration live, signed, and the same to who polls', async () => {
    const { gap } = (await poll('2001-01-01T00:00:00Z')).body as Body & { gap: { reason: string } };
    assert.equal(gap.reason, 'the log began later');
    const since = await now();
    await using stream = await open();
    const [domain = ''] = await move(1);
    const body = await migration(stream);
    const dns = service.internet.truth(domain).services.find(({ category }) => category === 'dns');
    const change = { type: 'migrated', to_id: dns?.provider };
    assert.partialDeepStrictEqual(body, { type: 'migration', domain, change });
    const keySet = (await service.ask('/.well-known/stack-keys.json')).body;
    const receipt = (await service.ask(`/ledger/receipts/${body.provenance.ledger_receipt_id}`)).body;
    const verdict = await verifyAnswer(body, { keySet, ledgerReceipt: receipt });
    assert.ok(verdict.ok, JSON.stringify(verdict.steps));
    assert.deepEqual((await poll(since)).events, [body]);
  });

  it('returns each event once across pages, with equal times and events arriving between pages', async () => {
    const since = await now();
    await move(6);
    let moves = 0;
    const { ids, next } = await pollAll(since, 2, async () => {
      if (moves++ === 1) await move(3);
    });
    assert.deepEqual([ids.length, new Set(ids).size], [9, 9], 'no event twice');
    assert.deepEqual((await pollAll(since, 1_000)).ids, ids, 'in one order, whatever the page');
    const times = (await poll(since)).events.map((event) => String(event.published_at));
    assert.deepEqual([...new Set(times)].sort(), times, 'each has a time of its own');
    assert.deepEqual((await poll(next)).events, []);
  });

  it('goes on after a restart where the client was, and where the poller was', async () => {
    const since = await now();
    let lastEventId = '';
    {
      await using stream = await open();
      await move(1);
      lastEventId = (await stream.next('migration')).id;
    }
    await move(2);
    await service.restart();
    await using stream = await open({ lastEventId });
    await move(1);
    const ids = [await migration(stream), await migration(stream), await migration(stream)].map(({ id }) => id);
    assert.deepEqual((await pollAll(since, 2)).ids.slice(1), ids);
  });

  it('sends reset for an id that does not exist', async () => {
    for (const lastEventId of ['999999999', 'nonsense', '-1']) {
      await using stream = await open({ lastEventId });
      const reset = await stream.next('reset');
      assert.match(reset.data, /does not exist/);
      // Good to come back with, unlike the one that was brought.
      await using again = await open({ lastEventId: reset.id });
      await move(1);
      await again.next('migration');
    }
  });

  it('sends reset to who was away longer than the log is kept, then all that is kept; a poller gets a gap', async () => {
    const since = await now();
    await move(4);
    const { stream: table } = service.running.app.store;
    const all = await pollAll(LONG_AGO, 1_000);
    const latest = await table.latest();
    await table.prune((latest?.publishedUs ?? 0) - 1, 10_000);
    await using stream = await open({ lastEventId: '1' });
    assert.match((await stream.next('reset')).data, /no longer reaches back/);
    const kept = await migration(stream);
    const page = await poll(since);
    assert.ok(page.events.length < 4 && all.ids.length > page.events.length);
    assert.deepEqual([page.events[0]?.id, page.events.at(-1)?.id], [kept.id, all.ids.at(-1)]);
    assert.match(JSON.stringify(page.body.gap), /no longer kept/);
    assert.equal((await poll(page.next)).body.gap, undefined, 'the gap is reported once');
  });

  it('filters by type, domain, provider and category', async () => {
    const since = await now();
    const [one = '', other = ''] = await move(2);
    const domains = async (query: string) => (await poll(since, query)).events.map((event) => String(event.domain));
    for (const [query, expected] of [
      ['types=migration', [one, other].sort()],
      ['types=anomaly,Service_Change', []],
      [`domain=www.${one.toUpperCase()}`, [one]],
      ['category=email', []],
    ] as const)
      assert.deepEqual((await domains(`&${query}`)).sort(), expected, query);
    const to = (await poll(since, `&domain=${one}`)).events[0]?.change as { to: string };
    assert.ok((await domains(`&provider=${encodeURIComponent(to.to)}`)).includes(one));

    await using stream = await open({ query: `?domain=${other}` });
    await using everything = await open();
    await move(2);
    assert.equal((await migration(stream)).domain, other);
    await everything.next('migration');
    await everything.next('migration');
    assert.equal(stream.waiting, 0);
  });

  it('gives the hour before without since', async () => {
    await move(1);
    assert.ok(((await service.get('/stack/v1/stream/json')).body.events as Body[]).length > 0);
  });
});
