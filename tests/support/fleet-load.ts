// Clients of a fleet during faults: they ask, keep what they are answered, and have the checker compare it with store and ledger.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Finding, StreamedEvent } from '../survival/checker/store-checks.ts';
import type { Fleet, FleetAtWork } from './fleet.ts';
import { follow } from './node-answers.ts';
import { randomFrom } from './random.ts';
import { untilAnswer } from './until.ts';

/** Requests a day of a free key: counted one by one, so that what was answered is what is counted. */
const FREE_KEY_LIMIT = 50;
/** A request without an answer after this time is a failure. */
const ANSWER_LIMIT_MS = 240_000;

const KEY_SET = '/.well-known/stack-keys.json';

export type FleetLoad = Awaited<ReturnType<typeof startLoad>>;

/** Asks until it is stopped; resolves when the stream has its first event. After a break it continues from its last one. */
export async function startLoad({ fleet, key, asked, databaseUrl, dataOf, checker }: FleetAtWork) {
  const stopping = new AbortController();
  const received = { answers: new Map<string, string>(), checkpoints: new Set<string>(), keySets: new Set<string>() };
  const [scans, counted] = [new Map<string, string>(), new Map<string, number>()];
  /** How often each status came, and answers that must not be given. */
  const statuses: Record<number, number> = {};
  const wrong: string[] = [];
  const random = randomFrom(2);
  const answered = () => (statuses[200] ?? 0) + (statuses[201] ?? 0);

  const working = async (work: () => Promise<unknown>) => {
    while (!stopping.signal.aborted)
      await work().catch((error: Error) => {
        if (!isOfFault(error)) wrong.push(error.stack ?? String(error));
        return delay(20);
      });
  };
  /** The text of a 200 or 201, undefined after another answer that may be given. */
  const ask = async (target: string, { key = '', method = 'GET' } = {}) => {
    const { base } = await fleet.api();
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const response = await fetch(base + target, { method, signal, headers: { 'x-stack-key': key } });
    const [{ status }, text] = [response, await response.text()];
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (response.ok) return text;
    const isUnavailable = status === 503 && response.headers.has('retry-after') && text.includes('"unavailable"');
    if (![404, 429].includes(status) && !isUnavailable) wrong.push(`${status} ${text}`);
    await delay(20);
    return undefined;
  };
  const askSigned = async (target: string, options: Parameters<typeof ask>[1]) => {
    const text = await ask(target, options);
    if (text === undefined) return undefined;
    const body = JSON.parse(text) as Record<string, string> & { readonly provenance: Record<string, string> };
    received.answers.set(body.provenance.ledger_receipt_id ?? '', text);
    return body;
  };
  const profile = async () => {
    const name = asked[Math.floor(random() * asked.length)] ?? '';
    const body = await askSigned(`/stack/v1/domains/${name}`, { key });
    if (body?.scanned_at) scans.set(name, body.scanned_at);
  };
  /** Takes free keys, and uses each to its end. A request whose answer is lost may be counted. */
  const useKeys = async () => {
    const free = (await askSigned('/keys', { method: 'POST' }))?.key;
    if (!free) return;
    counted.set(free, 0);
    for (let tries = 0; tries < FREE_KEY_LIMIT && !stopping.signal.aborted; tries += 1) {
      const target = `/stack/v1/search?limit=1&q=${random()}`;
      const body = await askSigned(target, { key: free }).catch(() => undefined);
      if (body) counted.set(free, (counted.get(free) ?? 0) + 1);
    }
  };
  const watchLedger = async () => {
    // The key set after the checkpoint: it has the key that signed it.
    const checkpoint = await ask('/ledger/checkpoint');
    const keySet = await ask(KEY_SET);
    if (checkpoint) received.checkpoints.add(checkpoint);
    if (keySet) received.keySets.add(keySet);
    await delay(50);
  };
  const stream = followOn(fleet, key, stopping.signal);
  const load = [profile, useKeys, useKeys, watchLedger].map(working);
  await untilAnswer('the stream has begun', stream.hasBegun);

  const stop = async () => {
    stopping.abort();
    await Promise.all([...load, stream.following]);
  };
  /** What does not hold of all answers so far. Call it after `stop`. */
  const findings = async (): Promise<readonly Finding[]> => {
    const ledgerUrl = databaseUrl.startsWith('sqlite:') ? `sqlite:${dataOf(0)}/ledger/ledger.db` : undefined;
    const { base } = await fleet.api();
    const service = { databaseUrl, ledgerUrl, base, keySetPath: KEY_SET };
    const acknowledged = { scans, counted, events: stream.events };
    const found = await checker.check({ ...received, acknowledged }, service);
    // What was logged as an error says why.
    const logged = fleet.all().flatMap((node) => node.log().match(/^.*"level":50,.*$/gm) ?? []);
    const why = wrong.length > 0 ? logged.slice(-5) : [];
    return [...[...wrong, ...why].map((what) => ({ kind: 'wrong', what }) as const), ...found];
  };
  return {
    ...{ key, received, statuses, answered, stop, findings },
    /** Until clients have so many more answers than now. */
    async goesOn(answers = 20): Promise<void> {
      const before = answered();
      await untilAnswer('clients get answers', () => answered() >= before + answers);
    },
    /** Until clients got so many more refusals than now. */
    async refuses(refusals = 1): Promise<void> {
      const before = statuses[503] ?? 0;
      await untilAnswer('clients are refused', () => (statuses[503] ?? 0) >= before + refusals);
    },
    /** Every answer still holds, and nothing happened twice. Call it after `stop`. */
    async check(): Promise<string> {
      assert.deepEqual(await findings(), []);
      return `${JSON.stringify(statuses)}: ${checker.receipts} receipts, ${scans.size} profiles, ${counted.size} keys, ${stream.events.length} events over ${stream.breaks()} breaks of the stream`;
    },
  };
}

/** Follows the stream wherever it is served, each time from where it was, until the signal aborts. */
function followOn(fleet: Fleet, key: string, signal: AbortSignal) {
  const events: StreamedEvent[] = [];
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
      // It may have been stopped while the stream was opened: an event that has passed is not sent again.
      if (!signal.aborted) await Promise.race([stream.ended, aborted]);
      await stream[Symbol.asyncDispose]();
      current = undefined;
      events.push(...stream.events);
      if (!signal.aborted) breaks += 1;
    }
  })();
  return { events, following, breaks: () => breaks, hasBegun: () => events.length + (current?.events.length ?? 0) > 0 };
}

/** Whether a stopped process or database explains the error; all other errors are bugs. */
function isOfFault(error: Error): boolean {
  return error instanceof TypeError && (error.message === 'fetch failed' || error.message === 'terminated');
}
