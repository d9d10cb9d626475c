// Scans recorded: how many a second, in batches, on SQLite and on PostgreSQL, which waits for the disk with each commit.
import { openStore, type Store } from '@strata/stack/store';
import { confirm, day, GOOGLE, scanOf } from '../../services/stack/src/store/test/scans.ts';
import { binaries, notice, startPostgres } from '../../tests/support/database/postgres.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Figure, perSecond, setting, timed } from '../measure.ts';

const SCANS = setting('DOMAINS', 4_096);
const SIZES = [1, 16, 64, 256] as const;

export async function benchRecording(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const figures: Figure[] = [];
  for (const size of SIZES) {
    await using store = await openStore(`sqlite:${directory.path}/${size}.db`);
    figures.push(await recordAll('SQLite', store, size));
  }
  if (!binaries) return [...figures, ['PostgreSQL', 'skipped', notice]];
  await using server = await startPostgres({ fsync: 'on', shared_buffers: '256MB' });
  for (const size of SIZES) {
    await using store = await openStore(await server.fresh());
    figures.push(await recordAll('PostgreSQL', store, size));
  }
  return figures;
}

/** All first scans, then all again the next day, which sees the same. */
async function recordAll(name: string, store: Store, size: number): Promise<Figure> {
  const rates: string[] = [];
  for (const at of [day(0), day(1)]) {
    const scans = Array.from({ length: SCANS }, (_, i) => scanOf(`company-${i}.com`, at, GOOGLE));
    const { seconds } = await timed(async () => {
      for (let i = 0; i < SCANS; i += size) await store.recordScans(scans.slice(i, i + size), confirm);
    });
    rates.push(perSecond(SCANS / seconds));
  }
  return [`${name}, ${size} at a time: first; same`, rates.join('; ')];
}
