// What a claim of due domains costs while many scanners hold leases: on PostgreSQL, four connections, a thousand holders.
import { openStore } from '@strata/stack/store';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { type Figure, perSecond, quantile, setting, timed } from '../measure.ts';

const DOMAINS = setting('DOMAINS', 300_000);
const CLAIMED = 128;
const SCANNERS = 1_000;
const CONCURRENT = 4;
const LEASE_MS = 600_000;

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
  return [
    [
      `${SCANNERS} scanners claim ${CLAIMED} domains each, ${CONCURRENT} at a time`,
      `${perSecond(SCANNERS / seconds)} claims`,
    ],
    ['a claim, p50 (p99): the first tenth of them; the last', `${ofTenth(0)}; ${ofTenth(9)}`],
    ['domains due and leased counted', `${(counted.seconds * 1_000).toFixed(1)} ms`],
  ];
}
