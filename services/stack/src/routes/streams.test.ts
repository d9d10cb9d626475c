import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { verifyAnswer } from '@strata/receipts';
import type { Body } from '../test/harness.ts';
import { type SharedService, sharedService } from '../test/shared.ts';
import { openStream, type StreamReader } from '../test/stream-reader.ts';

let service: SharedService;
let key: string;
const begin = async () => {
  service = await sharedService();
  key = await service.newKey();
};

const active = () =>
  service.internet.domains().filter((domain) => {
    const { state, services } = service.internet.truth(domain);
    return state === 'active' && services.filter(({ category }) => category === 'dns').length === 1;
  });

/** Moves companies to another DNS provider, looks twice, and lets the service take it in. */
async function move(count: number): Promise<string[]> {
  const moved = active().slice(0, count);
  for (const domain of moved) {
    const [dns] = service.internet.truth(domain).services.filter(({ category }) => category === 'dns');
    service.internet.migrate(domain, { category: 'dns', to: dns?.provider === 'ns1' ? 'dnsimple' : 'ns1' });
  }
  for (let look = 0; look < 2; look += 1) {
    await service.scan(...moved);
    // The second look has to be a later moment than the first.
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await service.running.service.app.pulse.now();
  return moved;
}

async function poll(since: string, more = ''): Promise<{ body: Body; events: Body[]; next: string; hasMore: boolean }> {
  const { status, body } = await service.get(`/stack/v1/stream/json?since=${encodeURIComponent(since)}${more}`);
  assert.equal(status, 200, JSON.stringify(body));
  return { body, events: body.events as Body[], next: String(body.next_since), hasMore: body.has_more === true };
}

/** Everything after a time, in pages of `limit`. */
async function pollAll(
  since: string,
  limit: number,
  between = async () => {},
): Promise<{ ids: string[]; next: string }> {
  const ids: string[] = [];
  for (let next = since; ; ) {
    const page = await poll(next, `&limit=${limit}`);
    ids.push(...page.events.map((event) => String(event.id)));
    next = page.next;
    if (!page.hasMore) return { ids, next };
    await between();
  }
}

const now = async () => (await pollAll('2020-01-01T00:00:00Z', 1_000)).next;
const open = (options: { lastEventId?: string; query?: string } = {}): Promise<StreamReader> =>
  openStream(`${service.base}/stack/v1/stream${options.query ?? ''}`, { key, ...options });

describe('the event stream', () => {
  before(begin);

  it('tells a migration live, signed, and the same to who polls', async () => {
    const { gap } = (await poll('2001-01-01T00:00:00Z')).body as Body & { gap: { reason: string } };
    assert.equal(gap.reason, 'the log began later');
    const since = await now();
    await using stream = await open();
    const [domain] = await move(1);
    const event = await stream.next('migration');
    const body = JSON.parse(event.data) as Body;
    assert.deepEqual([body.type, body.domain], ['migration', domain]);
    const change = body.change as { type: string; to_id: string };
    assert.deepEqual(
      [change.type, change.to_id],
      ['migrated', service.internet.truth(domain ?? '').services.find(({ category }) => category === 'dns')?.provider],
    );
    const keySet = (await service.ask('/.well-known/stack-keys.json')).body;
    const receipt = (await service.ask(`/ledger/receipts/${body.provenance.ledger_receipt_id}`)).body;
    const verdict = await verifyAnswer(body, { keySet, ledgerReceipt: receipt });
    assert.ok(verdict.ok, JSON.stringify(verdict.steps));
    const polled = await poll(since);
    assert.deepEqual(polled.events, [body]);
  });

  it('gives each event once to who pages, with ties in time and events arriving meanwhile', async () => {
    const since = await now();
    await move(6);
    let moves = 0;
    const { ids, next } = await pollAll(since, 2, async () => {
      if (moves++ === 1) await move(3);
    });
    assert.equal(new Set(ids).size, ids.length, 'no event twice');
    assert.equal(ids.length, 9);
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
    const ids = [];
    for (let i = 0; i < 3; i += 1) ids.push(String((JSON.parse((await stream.next('migration')).data) as Body).id));
    assert.deepEqual((await pollAll(since, 2)).ids.slice(1), ids);
  });

  it('tells who joins where it joins, so that a line that breaks before the first event loses none', async () => {
    let lastEventId = '';
    {
      await using stream = await open();
      while (stream.place === '') await new Promise((resolve) => setTimeout(resolve, 5));
      lastEventId = stream.place;
      assert.equal(stream.waiting, 0);
    }
    const [domain] = await move(1);
    await using stream = await open({ lastEventId });
    const { id, data } = await stream.next('migration');
    assert.equal((JSON.parse(data) as Body).domain, domain);
    assert.ok(Number(id) > Number(lastEventId));
  });

  it('says reset to who brings an id that was never given', async () => {
    for (const lastEventId of ['999999999', 'nonsense', '-1']) {
      await using stream = await open({ lastEventId });
      const reset = await stream.next('reset');
      assert.match(reset.data, /never given/);
      // Good to come back with, unlike the one that was brought.
      await using again = await open({ lastEventId: reset.id });
      await move(1);
      await again.next('migration');
    }
  });

  it('says reset to who was away longer than the log is kept, then tells all that is kept; a poller gets a gap', async () => {
    const since = await now();
    await move(4);
    const { stream: table } = service.running.service.app.store;
    const all = await pollAll('2020-01-01T00:00:00Z', 1_000);
    const latest = await table.latest();
    await table.prune((latest?.publishedUs ?? 0) - 1, 10_000);
    await using stream = await open({ lastEventId: '1' });
    assert.match((await stream.next('reset')).data, /no longer reaches back/);
    const kept = JSON.parse((await stream.next('migration')).data) as Body;
    const page = await poll(since);
    assert.ok(page.events.length < 4 && all.ids.length > page.events.length);
    assert.equal(page.events.at(-1)?.id, all.ids.at(-1));
    assert.equal(kept.id, page.events[0]?.id);
    assert.match(JSON.stringify(page.body.gap), /no longer kept/);
    assert.equal((await poll(page.next)).body.gap, undefined, 'the gap is told once');
  });

  it('filters by type, domain, provider and category', async () => {
    const since = await now();
    const [one = '', other = ''] = await move(2);
    const ids = async (query: string) => (await poll(since, query)).events.map((event) => String(event.domain)).sort();
    assert.deepEqual(await ids('&types=migration'), [one, other].sort());
    assert.deepEqual(await ids('&types=anomaly,Service_Change'), []);
    assert.deepEqual(await ids(`&domain=www.${one.toUpperCase()}`), [one]);
    assert.deepEqual(await ids('&category=email'), []);
    const to = (await poll(since, `&domain=${one}`)).events[0]?.change as { to: string };
    assert.ok((await ids(`&provider=${encodeURIComponent(to.to)}`)).includes(one));

    await using stream = await open({ query: `?domain=${other}` });
    await using everything = await open();
    await move(2);
    assert.equal((JSON.parse((await stream.next('migration')).data) as Body).domain, other);
    await everything.next('migration');
    await everything.next('migration');
    assert.equal(stream.waiting, 0);
  });

  it('tells of the hour before without since, and refuses a time that lies ahead', async () => {
    const { body } = await service.get('/stack/v1/stream/json');
    assert.ok((body.events as Body[]).length > 0);
    const ahead = new Date(Date.now() + 3_600_000).toISOString();
    const refused = await service.get(`/stack/v1/stream/json?since=${ahead}`);
    assert.deepEqual([refused.status, refused.body.errors?.[0]?.message], [400, 'lies in the future']);
  });

  it('ends when the server stops, at once and saying so', async () => {
    await using stream = await open();
    const startedAt = performance.now();
    await service.restart();
    assert.ok(performance.now() - startedAt < 5_000);
    await stream.ended;
    assert.match(stream.comments.join('\n'), /stopping/);
  });
});
