// What the path to the database costs who writes: scans of one to eight scanners at once, over delays made on loopback.
import { setTimeout as delay } from 'node:timers/promises';
import { type BadLink, startBadLink } from '../../tests/support/bad-link.ts';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { askChild, type Child, type Figure, median, perSecond, startChild } from '../measure.ts';
import type { ScannerTask } from './scanner-process.ts';

const SCANNERS = [1, 2, 4, 8] as const;
const SIZE = 64;
/** Of each scanner: each scan is recorded twice. */
const BATCHES = 4;
const ROUND_TRIPS_MS = [0, 10, 50] as const;
const ROUNDS = 4;
const [GOAL_SHARE, GOAL_TIMES] = [0.8, 3] as const;
/** Until the server has analyzed the tables that the first scans filled. */
const STATISTICS_MS = 10_000;

/** All within each round: shares are of another rate of the same round, which other work on this machine slows as much. */
export async function benchRoundTrips(): Promise<Figure[]> {
  if (!binaries) return [['PostgreSQL', 'skipped', notice]];
  await using stack = new AsyncDisposableStack();
  // With statistics, as any server has them within a minute: plans of an empty table read all of a large one.
  const statistics = { autovacuum: 'on', autovacuum_naptime: '2s' };
  const server = stack.use(await startPostgres({ fsync: 'on', shared_buffers: '256MB', ...statistics }));
  const link = stack.use(await startBadLink(await server.fresh()));
  const scanners: Child<object>[] = [];
  const scanner = new URL('./scanner-process.ts', import.meta.url);
  while (scanners.length < Math.max(...SCANNERS))
    scanners.push(stack.use(await startChild<object>(scanner, { url: link.url })));
  await rateOf(scanners, link, { roundTripMs: 0, prefix: 'first' });
  await delay(STATISTICS_MS);
  const rates = SCANNERS.map(() => ROUND_TRIPS_MS.map((): number[] => []));
  // The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [s, count] of SCANNERS.entries())
      for (const [n, roundTripMs] of ROUND_TRIPS_MS.entries()) {
        const prefix = `${count}-${round}-${n}`;
        const rate = await rateOf(scanners.slice(0, count), link, { roundTripMs, prefix });
        if (round > 0) rates[s]?.[n]?.push(rate);
      }
  return SCANNERS.flatMap((count, s) =>
    ROUND_TRIPS_MS.map((roundTripMs, n): Figure => {
      const own = rates[s]?.[n] ?? [];
      const over = (other: readonly number[] = []) =>
        median(own.map((rate, round) => rate / (other[round] ?? Number.NaN)));
      const isLast = s === SCANNERS.length - 1;
      const share = `${(over(rates[s]?.[0]) * 100).toFixed(0)} % of 0 ms`;
      const shareGoal = isLast && roundTripMs === 10 ? `, goal ${GOAL_SHARE * 100} %` : '';
      const times = `${over(rates[0]?.[n]).toFixed(1)} × one${isLast ? `, goal ${GOAL_TIMES}` : ''}`;
      return [
        `${count} at once, batches of ${SIZE}, ${roundTripMs} ms`,
        perSecond(median(own)),
        `${times}; ${share}${shareGoal}`,
      ];
    }),
  );
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
