// What the way to the database costs who writes: scans of several scanners at once, over delays made on loopback.
import { setTimeout as delay } from 'node:timers/promises';
import { type BadLink, startBadLink } from '../../tests/support/bad-link.ts';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { askChild, type Child, type Figure, median, perSecond, startChild } from '../measure.ts';
import type { ScannerTask } from './scanner-process.ts';

const SCANNERS = 4;
const SIZE = 64;
/** Of each scanner: each scan is recorded twice. */
const BATCHES = 8;
const ROUND_TRIPS_MS = [0, 10, 50] as const;
const ROUNDS = 5;
const GOAL = 0.8;
/** Until the server has analyzed the tables that the first scans filled. */
const STATISTICS_MS = 10_000;

/** All delays within each round: shares are of the rate at 0 ms in the same round, which other work on this machine slows as much. */
export async function benchRoundTrips(): Promise<Figure[]> {
  if (!binaries) return [['PostgreSQL', 'skipped', notice]];
  await using stack = new AsyncDisposableStack();
  // With statistics, as any server has them within a minute: plans of an empty table read all of a large one.
  const statistics = { autovacuum: 'on', autovacuum_naptime: '2s' };
  const server = stack.use(await startPostgres({ fsync: 'on', shared_buffers: '256MB', ...statistics }));
  const link = stack.use(await startBadLink(await server.fresh()));
  const scanners: Child<object>[] = [];
  const scanner = new URL('./scanner-process.ts', import.meta.url);
  while (scanners.length < SCANNERS) scanners.push(stack.use(await startChild<object>(scanner, { url: link.url })));
  await rateOf(scanners, link, { roundTripMs: 0, prefix: 'first' });
  await delay(STATISTICS_MS);
  const figures: Figure[] = [];
  for (const some of [scanners.slice(0, 1), scanners]) {
    const rates = ROUND_TRIPS_MS.map((): number[] => []);
    // The first round is a warm-up.
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const [n, roundTripMs] of ROUND_TRIPS_MS.entries()) {
        const rate = await rateOf(some, link, { roundTripMs, prefix: `${some.length}-${round}-${n}` });
        if (round > 0) rates[n]?.push(rate);
      }
    const [atOnce = []] = rates;
    for (const [n, roundTripMs] of ROUND_TRIPS_MS.entries()) {
      const delayed = rates[n] ?? [];
      const share = median(delayed.map((rate, round) => rate / (atOnce[round] ?? Number.NaN)));
      const goal = some.length > 1 && roundTripMs === 10 ? `; goal ${GOAL * 100} %` : '';
      figures.push([
        `${some.length === 1 ? 'one scanner' : `${some.length} scanners`}, batches of ${SIZE}, ${roundTripMs} ms`,
        perSecond(median(delayed)),
        roundTripMs === 0 ? '' : `${(share * 100).toFixed(0)} % of the rate at 0 ms${goal}`,
      ]);
    }
  }
  return figures;
}

async function rateOf(
  scanners: readonly Child<object>[],
  link: BadLink,
  { roundTripMs, prefix }: { readonly roundTripMs: number; readonly prefix: string },
): Promise<number> {
  const all = (tasks: (n: number) => Partial<ScannerTask>) =>
    Promise.all(scanners.map((scanner, n) => askChild(scanner, tasks(n))));
  await all((n) => ({ prefix: `s${n}-${prefix}`, batches: BATCHES, size: SIZE }));
  link.become(roundTripMs === 0 ? { kind: 'ok' } : { kind: 'slow', ms: roundTripMs });
  const startedAt = performance.now();
  await all(() => ({}));
  return (scanners.length * BATCHES * SIZE * 2 * 1_000) / (performance.now() - startedAt);
}
