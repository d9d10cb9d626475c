// What the way to the database costs who writes: scans of several scanners at once and events of the stream, over delays made on loopback.
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/stack/store';
import { streamEvent } from '../../services/stack/src/store/test/records.ts';
import { confirm, day, GOOGLE, recordScan, scanOf } from '../../services/stack/src/store/test/scans.ts';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { askChild, type Child, type Figure, median, perSecond, startChild, timed } from '../measure.ts';
import { type DelayingProxy, NEAR, type Network, startDelayingProxy } from './delaying-proxy.ts';
import type { ScannerTask } from './scanner-process.ts';

const SCANNERS = 4;
const SIZE = 64;
/** Of each scanner: each scan is recorded twice. */
const BATCHES = 8;
/** 10 Mbit/s: what a batch weighs takes longer than the way. */
const NARROW = 1_250;
const NETWORKS: readonly Network[] = [
  NEAR,
  { ...NEAR, roundTripMs: 10 },
  { ...NEAR, roundTripMs: 50 },
  { roundTripMs: 10, bytesPerMs: NARROW },
];
const ROUNDS = 5;
const GOAL = 0.8;
/** Until the server has analyzed the tables that the first scans filled. */
const STATISTICS_MS = 10_000;
const EVENTS = 500;
const EVENTS_DELAY_MS = 40;

export async function benchRoundTrips(): Promise<Figure[]> {
  if (!binaries) return [{ what: 'PostgreSQL', value: 'skipped', against: notice }];
  // With statistics, as any server has them within a minute: plans of an empty table read all of a large one.
  const statistics = { autovacuum: 'on', autovacuum_naptime: '2s' };
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '256MB', ...statistics });
  await using proxy = await startDelayingProxy(await server.fresh());
  return [...(await scansOver(proxy)), ...(await eventsOver(proxy))];
}

/** All networks within each round: shares are of the rate at 0 ms in the same round, which other work on this machine slows as much. */
async function scansOver(proxy: DelayingProxy): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const scanners: Child<object>[] = [];
  for (let n = 0; n < SCANNERS; n += 1)
    scanners.push(
      stack.use(await startChild<object>(new URL('./scanner-process.ts', import.meta.url), { url: proxy.url })),
    );
  const figures: Figure[] = [];
  await rateOf(scanners, proxy, { network: NEAR, prefix: 'first' });
  await delay(STATISTICS_MS);
  for (const some of [scanners.slice(0, 1), scanners]) {
    const rates = NETWORKS.map((): number[] => []);
    // The first round is a warm-up.
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const [n, network] of NETWORKS.entries()) {
        const rate = await rateOf(some, proxy, { network, prefix: `${some.length}-${round}-${n}` });
        if (round > 0) rates[n]?.push(rate);
      }
    for (const [n, { roundTripMs, bytesPerMs }] of NETWORKS.entries()) {
      const ofNetwork = rates[n] ?? [];
      const share = median(ofNetwork.map((rate, round) => rate / (rates[0]?.[round] ?? Number.NaN)));
      const width = bytesPerMs === NARROW ? ', 10 Mbit/s for each' : '';
      const goal = some.length > 1 && n === 1 ? `; goal ${GOAL * 100} %` : '';
      figures.push({
        what: `${some.length === 1 ? 'one scanner' : `${some.length} scanners`}, batches of ${SIZE}, ${roundTripMs} ms${width}`,
        value: perSecond(median(ofNetwork)),
        against: n === 0 ? '' : `${(share * 100).toFixed(0)} % of the rate at 0 ms${goal}`,
      });
    }
  }
  return figures;
}

async function rateOf(
  scanners: readonly Child<object>[],
  proxy: DelayingProxy,
  { network, prefix }: { readonly network: Network; readonly prefix: string },
): Promise<number> {
  const all = (tasks: (n: number) => Partial<ScannerTask>) =>
    Promise.all(scanners.map((scanner, n) => askChild(scanner, tasks(n))));
  await all((n) => ({ prefix: `s${n}-${prefix}`, batches: BATCHES, size: SIZE }));
  proxy.network = network;
  const startedAt = performance.now();
  await all(() => ({}));
  return (scanners.length * BATCHES * SIZE * 2 * 1_000) / (performance.now() - startedAt);
}

/** The scheduler appends to the stream, and a scanner records a scan at the same time. */
async function eventsOver(proxy: DelayingProxy): Promise<Figure[]> {
  proxy.network = NEAR;
  await using store = await openStore(proxy.url);
  await store.stream.begin(0, 1);
  const record = (n: number) => recordScan(store, scanOf('beside.com', day(n), GOOGLE), confirm);
  await record(0);
  proxy.network = { ...NEAR, roundTripMs: EVENTS_DELAY_MS };
  const alone = await timeOf(() => record(1));
  const events = Array.from({ length: EVENTS }, (_, n) => streamEvent(10 + n));
  const appending = timeOf(() => store.stream.append(events, { from: 0, to: 1 }));
  await delay(2 * EVENTS_DELAY_MS);
  const beside = await timeOf(() => record(2));
  const what = `${EVENTS} events of the stream, ${EVENTS_DELAY_MS} ms of round trip`;
  const ms = await appending;
  return [
    { what, value: `${ms.toFixed(0)} ms`, against: `${(ms / EVENTS_DELAY_MS).toFixed(1)} round trips` },
    { what: 'a scan beside them', value: `${beside.toFixed(0)} ms`, against: `alone ${alone.toFixed(0)} ms` },
  ];
}

const timeOf = async (work: () => Promise<unknown>): Promise<number> => (await timed(work)).seconds * 1_000;
