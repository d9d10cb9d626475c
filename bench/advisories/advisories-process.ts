// A quarter of a million advisories beside a million domains in one process: what it takes, and what each new one costs.
import { compileAdvisory, judgeCompiled } from '@strata/advisories';
import { productKeysOf } from '@strata/detect';
import { countsOf, Exposures, listAdvisories, listAffected } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { childArgument, collectGarbage, median, quantile, reportReady, timed, timesOf } from '../measure.ts';
import { advisoryOf, indexOf, recordOf, rulebook } from './advisory-load.ts';

const { advisories, domains } = childArgument<{ advisories: number; domains: number }>();
reportReady(await measure(), async () => {});

async function measure() {
  await using directory = await temporaryDirectory();
  await using store = await openStore(`sqlite:${directory.path}/strata.db`);
  const AT_ONCE = 2_000;
  const writing = await timed(async () => {
    for (let from = 0; from < advisories; from += AT_ONCE)
      await store.advisories.putRecords(Array.from({ length: AT_ONCE }, (_, i) => recordOf(from + i)));
  });
  const written = advisories / writing.seconds;
  const index = indexOf(domains);
  collectGarbage();
  const before = process.memoryUsage().rss;
  const openedAt = performance.now();
  await using exposures = await Exposures.open({ store, index, rulebook });
  while (!exposures.isLoaded) await new Promise((resolve) => setTimeout(resolve, 10));
  const openMs = performance.now() - openedAt;
  collectGarbage();
  const rss = process.memoryUsage().rss;

  // The first round hands out everything that was there at the start.
  for await (const _ of exposures.changes());
  const news = await timesOf(100, async (i) => {
    await store.advisories.putRecords([recordOf(advisories + i)]);
    for await (const { entries } of exposures.changes()) for (const entry of entries) countsOf(exposures, entry);
  });
  const scans = await timesOf(2_000, async (i) => exposures.ofDomain(1 + ((i * 7_919) % domains)));
  const builds = await timesOf(100, async (i) => {
    exposures.advisories.addBuild('nginx', { version: `1.${i}.99`, platform: null });
  });
  const all = Array.from({ length: advisories }, (_, i) => compileAdvisory(advisoryOf(i)));
  const naive = await timesOf(3, async (i) => judgeAll(1 + i));
  const parts = { exposures, index };
  const page = { limit: 50, offset: 0 };
  const lists = await timesOf(10, async () => listAdvisories(parts, {}, page));
  const affected = await timesOf(10, async () => listAffected(parts, {}, page));
  return {
    written,
    openMs,
    rss,
    exposuresRss: rss - before,
    known: exposures.advisories.size,
    news: { median: median(news), worst: quantile(news, 1) },
    scans: { median: median(scans), p99: quantile(scans, 0.99) },
    builds: { median: median(builds), worst: quantile(builds, 1) },
    naive: median(naive),
    lists: median(lists),
    affected: median(affected),
  };

  /** What a domain costs without an index: every advisory of every product that it shows, judged. */
  function judgeAll(domain: number): number {
    let count = 0;
    for (const [, provider] of index.services(domain)) {
      const entry = rulebook.providers.get(provider);
      if (!entry) continue;
      const product = {
        keys: productKeysOf(entry),
        releaseParts: entry.releaseParts,
        ...(index.buildOf(domain, provider) ?? { version: null, platform: null }),
      };
      for (const compiled of all) if (judgeCompiled(compiled, product).verdict !== 'unaffected') count += 1;
    }
    return count;
  }
}
