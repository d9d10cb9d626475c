// What a claim of due domains costs while many scanners hold leases: on PostgreSQL, four connections, a thousand holders. Then a
// thousand scanners with a connection each, through PgBouncer, that claim and record.
import { setTimeout as delay } from 'node:timers/promises';
import { openStore, type Store } from '@strata/stack/store';
import { confirm, GOOGLE, scanOf } from '../../services/stack/src/store/test/scans.ts';
import { isInstalled, startPooler } from '../../tests/support/database/pgbouncer.ts';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { type Figure, perSecond, quantile, setting, timed } from '../measure.ts';

const DOMAINS = setting('DOMAINS', 300_000);
const CLAIMED = 128;
const SCANNERS = 1_000;
const CONCURRENT = 4;
const LEASE_MS = 600_000;
/** As a scanner records them; each scanner claims so many at a time. */
const BATCH = 8;
const BATCHES = 3;
const SERVER_CONNECTIONS = 20;
const OPENED_AT_ONCE = 50;
/** Of a claimed batch. A connection that is idle for ten seconds is closed. */
const PROBING_MS = 9_000;

export async function benchClaims(): Promise<Figure[]> {
  if (!binaries) return [['claims', 'skipped', notice]];
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '256MB' });
  await using store = await openStore(await server.fresh());
  const names = Array.from({ length: DOMAINS }, (_, i) => `company-${i}.com`);
  await store.domains.add(names, { source: 'bench' });
  const now = new Date();
  const claimOf = async (scanner: number): Promise<number> => {
    const began = performance.now();
    const claimed = await store.work.claimDue({ holder: `scanner-${scanner}`, limit: CLAIMED, leaseMs: LEASE_MS }, now);
    if (claimed.length < CLAIMED) throw new Error(`scanner ${scanner} got ${claimed.length} domains`);
    return performance.now() - began;
  };
  const tenths = Array.from({ length: 10 }, (): number[] => []);
  let scanner = 0;
  const { seconds } = await timed(async () => {
    await Promise.all(
      Array.from({ length: CONCURRENT }, async () => {
        while (scanner < SCANNERS) {
          const number = scanner++;
          tenths[Math.floor((10 * number) / SCANNERS)]?.push(await claimOf(number));
        }
      }),
    );
  });
  const ofTenth = (tenth: number) => {
    const times = tenths[tenth] ?? [];
    return `${quantile(times, 0.5).toFixed(1)} (${quantile(times, 0.99).toFixed(1)}) ms`;
  };
  const counted = await timed(() => store.inspection.figures(now));
  const recorded = isInstalled ? await recordThroughPooler(server) : [];
  return [
    [
      `${SCANNERS} scanners claim ${CLAIMED} domains each, ${CONCURRENT} at a time`,
      `${perSecond(SCANNERS / seconds)} claims`,
    ],
    ['a claim, p50 (p99): the first tenth of them; the last', `${ofTenth(0)}; ${ofTenth(9)}`],
    ['domains due and leased counted', `${(counted.seconds * 1_000).toFixed(1)} ms`],
    ...recorded,
  ];
}

async function recordThroughPooler(server: Awaited<ReturnType<typeof startPostgres>>): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack();
  const direct = await server.fresh();
  const all = SCANNERS * BATCH * BATCHES;
  {
    await using store = await openStore(direct);
    await store.domains.add(
      Array.from({ length: all }, (_, n) => `company-${n}.com`),
      { source: 'bench' },
    );
  }
  const url = await startPooler(stack, new URL(direct), SERVER_CONNECTIONS);
  const scanners: Store[] = [];
  while (scanners.length < SCANNERS)
    for (const store of await Promise.all(
      Array.from({ length: OPENED_AT_ONCE }, () => openStore(url, { poolSize: 1 })),
    ))
      scanners.push(stack.use(store));
  const [now, claims, records] = [new Date(), [] as number[], [] as number[]];
  const noted = async <T>(times: number[], work: Promise<T>): Promise<T> => {
    const { value, seconds } = await timed(() => work);
    times.push(seconds * 1_000);
    return value;
  };
  const same = scanOf('company.com', now.toISOString(), GOOGLE);
  const scanned = (domain: string) => ({ ...same, profile: { ...same.profile, domain } });
  const scan = async ({ work, recordScans }: Store, number: number): Promise<void> => {
    await delay((PROBING_MS * number) / SCANNERS);
    for (;;) {
      const claim = { holder: `scanner-${number}`, limit: BATCH, leaseMs: LEASE_MS };
      const names = await noted(claims, work.claimDue(claim, now));
      if (names.length === 0) return;
      await delay(PROBING_MS);
      for (const result of await noted(records, recordScans(names.map(scanned), confirm)))
        if (result.status === 'rejected') throw result.reason;
    }
  };
  const { seconds } = await timed(() => Promise.all(scanners.map(scan)));
  const times = (some: readonly number[]) =>
    `${quantile(some, 0.5).toFixed(0)} (${quantile(some, 0.99).toFixed(0)}) ms`;
  return [
    [
      `${SCANNERS} scanners through PgBouncer and ${SERVER_CONNECTIONS} connections claim, probe for ${PROBING_MS / 1_000} s and record ${BATCH} at a time`,
      perSecond(all / seconds),
      `offered ${perSecond(all / ((PROBING_MS * (BATCHES + 1)) / 1_000))}`,
    ],
    ['a claim; a record, p50 (p99)', `${times(claims)}; ${times(records)}`],
  ];
}
