// A quarter of a million advisories beside a million domains in one process: what it takes, and what each new one costs.
import { compileAdvisory, judgeCompiled } from '@strata/advisories';
import { productKeysOf } from '@strata/detect';
import { countsOf, Exposures } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { until } from '../../tests/support/until.ts';
import { childArgument, collectGarbage, median, quantile, reportReady, timesOf } from '../measure.ts';
import { advisoryOf, indexOf, recordOf, rulebook } from './advisory-load.ts';

export interface Matching {
  readonly rss: number;
  /** Milliseconds of a new advisory: committed, judged against every version in use, its domains counted. */
  readonly news: { readonly median: number; readonly worst: number };
  /** Of all advisories of a domain, in order. */
  readonly domain: { readonly median: number; readonly p99: number };
  /** Of the same without an index: every advisory of every product that the domain shows, judged. */
  readonly naive: number;
}

const AT_ONCE = 2_000;
const { advisories, domains } = childArgument<{ advisories: number; domains: number }>();
reportReady(await measure(), async () => {});

async function measure(): Promise<Matching> {
  await using directory = await temporaryDirectory();
  await using store = await openStore(`sqlite:${directory.path}/strata.db`);
  for (let from = 0; from < advisories; from += AT_ONCE)
    await store.advisories.putRecords(Array.from({ length: AT_ONCE }, (_, i) => recordOf(from + i)));
  const index = indexOf(domains);
  await using exposures = await Exposures.open({ store, index, rulebook });
  await until(() => exposures.isLoaded);
  collectGarbage();
  const { rss } = process.memoryUsage();

  // The first round hands out everything that was there at the start.
  for await (const _ of exposures.changes());
  const news = await timesOf(100, async (i) => {
    await store.advisories.putRecords([recordOf(advisories + i)]);
    for await (const { entries } of exposures.changes()) for (const entry of entries) countsOf(exposures, entry);
  });
  const lists = await timesOf(2_000, async (i) => exposures.ofDomain(1 + ((i * 7_919) % domains)));
  const all = Array.from({ length: advisories }, (_, i) => compileAdvisory(advisoryOf(i)));
  const naive = await timesOf(3, async (i) => judgeAll(1 + i));
  return {
    rss,
    news: { median: median(news), worst: quantile(news, 1) },
    domain: { median: median(lists), p99: quantile(lists, 0.99) },
    naive: median(naive),
  };

  function judgeAll(domain: number): number {
    let count = 0;
    for (const [, provider] of index.services(domain)) {
      const entry = rulebook.providers.get(provider);
      if (!entry) continue;
      const build = index.buildOf(domain, provider) ?? { version: null, platform: null };
      const product = { keys: productKeysOf(entry), releaseParts: entry.releaseParts, ...build };
      for (const compiled of all) if (judgeCompiled(compiled, product).verdict !== 'unaffected') count += 1;
    }
    return count;
  }
}
