// Requests of clients to a fleet during faults, and checks that every answer still holds afterwards.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { checkStore, StoreError } from '@strata/store';
import { rows } from '../../packages/store/src/test/places.ts';
import { confirm, day, GOOGLE, MICROSOFT, scanOf } from '../../packages/store/src/test/scans.ts';
import type { Fleet, FleetAtWork } from './fleet.ts';
import { changesIn, follow, get } from './node-answers.ts';
import { randomFrom } from './random.ts';
import { untilAnswer } from './until.ts';

/** Counted one by one, so that what was answered is what is counted. */
const FREE_KEY_LIMIT = 50;
/** No answer is older than its load, or signed for a time to come. */
const SIGNED_WITHIN_MS = 1_800_000;
/** A request without an answer after this time is a failure. */
const ANSWER_LIMIT_MS = 240_000;

export type FleetLoad = Awaited<ReturnType<typeof startLoad>>;

/**
 * Asks until it is stopped; resolves when the stream has its first event, and continues from its last one after a break.
 * `moving`: a domain of this load alone, which moves from one provider to the other and back.
 */
export async function startLoad(
  { fleet, store, asked, databaseUrl }: FleetAtWork,
  freeKeys: number,
  moving = 'moving.example',
) {
  const unlimited = await store.keys.create({ tier: 'unlimited' });
  const keys = await Promise.all(Array.from({ length: freeKeys }, () => store.keys.create({ tier: 'free' })));
  const ended = new Set<string>();
  const startedAt = Date.now();
  const stopping = new AbortController();
  const receipts = new Set<string>();
  const profiles = new Map<string, string>();
  const counted = new Map<string, number>();
  /** How often each status came, and answers that must not be given. */
  const statuses: Record<number, number> = {};
  const wrong: string[] = [];
  let longestMs = 0;
  const random = randomFrom(2);

  const working = async (work: () => Promise<void>) => {
    while (!stopping.signal.aborted)
      await work().catch((error: Error) => {
        if (!isOfFault(error)) wrong.push(error.stack ?? String(error));
        return delay(20);
      });
  };
  const ask = async (target: string, key: string) => {
    const { base } = await fleet.api();
    const startedAt = performance.now();
    const answer = await get({ base }, target, key, AbortSignal.timeout(ANSWER_LIMIT_MS)).catch((error: Error) => {
      if (error.name === 'TimeoutError') wrong.push(`${target} got no answer within ${ANSWER_LIMIT_MS} ms`);
      throw error;
    });
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const isRefusal = [404, 429].includes(answer.status) || isUnavailable(answer);
    if (answer.status !== 200 && !isRefusal) wrong.push(`${answer.status} ${answer.text}`);
    return answer;
  };
  const note = (text: string) => {
    const { provenance, domain, scanned_at } = JSON.parse(text);
    receipts.add(provenance.ledger_receipt_id);
    if (!(Math.abs(Date.parse(provenance.signed_at) - Date.now()) < SIGNED_WITHIN_MS))
      wrong.push(`signed at ${provenance.signed_at}`);
    return { domain, scanned_at } as { readonly domain?: string; readonly scanned_at?: string };
  };
  const stream = followOn(fleet, unlimited.key, stopping.signal);
  let n = 0;
  const load = [
    working(async () => {
      const name = asked[Math.floor(random() * asked.length)] ?? '';
      const answer = await ask(`/stack/v1/domains/${name}`, unlimited.key);
      if (answer.status !== 200) return void (await delay(20));
      const { scanned_at } = note(answer.text);
      if (scanned_at) profiles.set(name, scanned_at);
    }),
    // Requests that count, each key to its end.
    ...Array.from({ length: 2 }, (_, lane) =>
      working(async () => {
        const mine = keys.filter((_, i) => i % 2 === lane);
        const key = mine.find(({ stored: { id } }) => !ended.has(id) && (counted.get(id) ?? 0) < FREE_KEY_LIMIT);
        if (!key) return void (await delay(100));
        const answer = await ask('/stack/v1/stats/providers', key.key);
        if (answer.status === 200) {
          note(answer.text);
          counted.set(key.stored.id, (counted.get(key.stored.id) ?? 0) + 1);
        }
        // What got lost on its way may have been counted: then the key ends before this count does.
        if (answer.status === 429) ended.add(key.stored.id);
        if (answer.status === 503) await delay(20);
      }),
    ),
    // Changes that every second scan confirms, for the stream.
    working(async () => {
      const exchange = n % 4 < 2 ? GOOGLE : MICROSOFT;
      n += 1;
      await store.recordScan(scanOf(moving, day(n - 1), exchange), confirm);
      await delay(20);
    }),
  ];
  await untilAnswer('the stream has begun', stream.hasBegun);

  return {
    ...{ key: unlimited.key, receipts, statuses },
    /** Until clients have so many more answers than now. */
    async goesOn(answers = 20): Promise<void> {
      const before = statuses[200] ?? 0;
      await untilAnswer('clients get answers', () => (statuses[200] ?? 0) >= before + answers);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([...load, stream.following]);
    },
    /** Every answer still holds, and nothing happened twice. Call it after `stop`. */
    async check(): Promise<string> {
      assert.deepEqual(wrong, []);
      const node = await fleet.api();
      assert.ok(receipts.size > 0, 'there are receipts');
      for (const id of receipts) {
        const { status } = await get(node, `/ledger/receipts/${id}`, unlimited.key);
        assert.equal(status, 200, `${id} was given out and is not in the ledger`);
      }
      for (const [name, scannedAt] of profiles) {
        const stored = await store.domain(name);
        assert.ok(
          stored && stored.scannedAt.getTime() >= Date.parse(scannedAt),
          `${name} is not older than it was published`,
        );
      }
      // Midnight may have passed.
      const days = [...new Set([startedAt, Date.now()].map((at) => new Date(at).toISOString().slice(0, 10)))];
      for (const { stored } of keys) {
        const used = await Promise.all(days.map((each) => store.quota.used(stored.id, each)));
        const answered = counted.get(stored.id) ?? 0;
        const sum = used.reduce((a, b) => a + b, 0);
        assert.ok(
          sum >= answered && used.every((count) => count <= FREE_KEY_LIMIT),
          `${answered} answered, ${used} counted`,
        );
      }
      const twice = 'select domain_id, observed_at from scans group by domain_id, observed_at having count(*) > 1';
      assert.deepEqual(await rows(databaseUrl, twice), [], 'no scan is stored twice');
      const all = await changesIn(store);
      await using rest = await follow(node, unlimited.key, String(stream.events.at(-1)?.seq));
      const events = () => [...stream.events, ...rest.events];
      const last = () => events().at(-1)?.body ?? '';
      await untilAnswer('all are sent', last, (body) => body.includes(all.at(-1) ?? '-'));
      const published = events().map(({ body }) => (JSON.parse(body) as { readonly id: string }).id);
      const publishedChanges = published.filter((id) => all.includes(id));
      const expected = all.slice(all.indexOf(publishedChanges[0] ?? ''));
      assert.deepEqual(publishedChanges, expected, 'each change since it was followed is sent once, in its order');
      assert.equal(new Set(published).size, published.length);
      assert.deepEqual((await checkStore(databaseUrl)).findings, []);
      const requests = [...counted.values()].reduce((a, b) => a + b, 0);
      return `${JSON.stringify(statuses)} in at most ${Math.round(longestMs)} ms: ${receipts.size} receipts, ${profiles.size} profiles, ${requests} counted requests, ${all.length} changes over ${stream.breaks()} breaks of the stream`;
    },
  };
}

/** What a service answers whose database is away. */
function isUnavailable(answer: Awaited<ReturnType<typeof get>>): boolean {
  if (answer.status !== 503 || answer.headers.get('retry-after') === null) return false;
  return (JSON.parse(answer.text) as { readonly code?: string }).code === 'unavailable';
}

/** Follows the stream wherever it is served, each time from where it was, until the signal aborts. */
function followOn(fleet: Fleet, key: string, signal: AbortSignal) {
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
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await Promise.race([stream.ended, aborted]);
      await stream[Symbol.asyncDispose]();
      current = undefined;
      events.push(...stream.events);
      if (!signal.aborted) breaks += 1;
    }
  })();
  return { events, following, breaks: () => breaks, hasBegun: () => events.length + (current?.events.length ?? 0) > 0 };
}

/** Whether a stopped process or database explains the error; all others are bugs. */
function isOfFault(error: Error): boolean {
  if (error instanceof StoreError || error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  return error instanceof TypeError && (error.message === 'fetch failed' || error.message === 'terminated');
}
