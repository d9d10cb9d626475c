// A quarter of a million advisories beside a million domains in one process: what it takes, and what each new one costs.
import { type Advisory, type AdvisoryRecord, compileAdvisory, judgeCompiled } from '@strata/advisories';
import { IndexBuilder, memoryAnalytics } from '@strata/analytics';
import { entries } from '@strata/catalog';
import { compileRulebook, loadCatalog, productKeysOf, type Rulebook } from '@strata/detect';
import { countsOf, Exposures } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import { randomFrom } from '../../tests/support/random.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { until } from '../../tests/support/until.ts';
import { childArgument, collectGarbage, median, quantile, reportReady, timesOf } from '../measure.ts';

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
  const analytics = memoryAnalytics(index);
  await using exposures = await Exposures.open({ store, analytics, rulebook });
  await until(() => exposures.isLoaded);
  collectGarbage();
  const { rss } = process.memoryUsage();

  // The first round hands out everything that was there at the start.
  for await (const _ of exposures.changes());
  const news = await timesOf(100, async (i) => {
    await store.advisories.putRecords([recordOf(advisories + i)]);
    for await (const { entries } of exposures.changes())
      for (const entry of entries) await countsOf({ exposures, analytics }, entry);
  });
  const lists = await timesOf(2_000, async (i) => exposures.ofServices(servicesOf(1 + ((i * 7_919) % domains))));
  const all = Array.from({ length: advisories }, (_, i) => compileAdvisory(advisoryOf(i)));
  const naive = await timesOf(3, async (i) => judgeAll(1 + i));
  return {
    rss,
    news: { median: median(news), worst: quantile(news, 1) },
    domain: { median: median(lists), p99: quantile(lists, 0.99) },
    naive: median(naive),
  };

  function servicesOf(domain: number) {
    return index.services(domain).map(([, provider, confidence]) => {
      return { provider, confidence, ...(index.buildOf(domain, provider) ?? { version: null, platform: null }) };
    });
  }

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

interface LoadedProduct {
  readonly id: string;
  /** `vendor:product` of its first CPE. */
  readonly cpe: string;
}

const rulebook: Rulebook = compileRulebook(loadCatalog(entries));
const products: readonly LoadedProduct[] = [...rulebook.providers.values()].flatMap((provider) => {
  const key = productKeysOf(provider).find((each) => each.startsWith('cpe:'));
  return key === undefined ? [] : [{ id: provider.id, cpe: key.slice('cpe:'.length) }];
});

const CVSS = { version: '3.1', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', by: 'nvd' } as const;

/** In NVD's format: one configuration, two ranges. The same number gives the same record. */
function recordOf(number: number): AdvisoryRecord {
  const { cpe } = products[number % products.length] as LoadedProduct;
  const random = randomFrom(number);
  const branch = (major: number) => ({
    kind: 'cpe' as const,
    name: `cpe:2.3:a:${cpe.replace(/([^A-Za-z0-9_:.-])/g, '\\$1')}:*:*:*:*:*:*:*:*`,
    isVulnerable: true,
    range: {
      from: { version: `${major}.0.0`, isInclusive: true },
      to: { version: `${major}.${1 + Math.floor(random() * 20)}.${Math.floor(random() * 10)}`, isInclusive: false },
    },
  });
  const children = [branch(1 + Math.floor(random() * 4)), branch(5 + Math.floor(random() * 4))];
  const published = new Date(Date.UTC(2005, 0, 1) + number * 2_400_000).toISOString();
  return {
    source: 'nvd',
    id: `CVE-${2100 + Math.floor(number / 9_000)}-${10_000 + (number % 9_000)}`,
    aliases: [],
    state: 'published',
    title: `Weakness ${number} in ${cpe}`,
    summary: `A weakness that lets a remote attacker do what number ${number} of this load allows.`,
    published,
    modified: published,
    cvss: [{ ...CVSS, score: Math.round(random() * 100) / 10 }],
    severity: null,
    claims: [
      {
        kind: 'configuration',
        products: [`cpe:${cpe}`],
        root: { kind: 'node', operator: 'OR', isNegated: false, children },
      },
    ],
    url: `https://nvd.nist.gov/vuln/detail/${number}`,
  };
}

/** The claims of a record, as they are judged. */
function advisoryOf(number: number): Pick<Advisory, 'claims'> {
  return { claims: recordOf(number).claims.map((claim) => ({ ...claim, source: 'nvd' })) };
}

/** Seven in ten domains show one or two products, three in four of these with one of some hundred versions. */
function indexOf(count: number) {
  const builder = new IndexBuilder();
  for (let id = 1; id <= count; id += 1) {
    const random = randomFrom(id);
    const shown = random() < 0.3 ? 0 : random() < 0.6 ? 1 : 2;
    builder.put({
      id,
      name: `company-${id}.com`,
      scannedAt: 1_700_000_000_000,
      state: 'active',
      sector: 'unknown',
      posture: 0,
      holders: 0,
      score: 50,
      services: Array.from({ length: shown }, (_, i) => {
        // Few products have most users.
        const { id: provider } = products[
          (Math.floor(products.length * random() ** 3) + i * 7) % products.length
        ] as LoadedProduct;
        const version = random() < 0.75 ? versionOf(random) : null;
        return ['web_platform', provider, 'high', version, null] as const;
      }),
    });
  }
  return builder.build({ seq: 0, scanId: 0 });
}

function versionOf(random: () => number): string {
  return `${1 + Math.floor(random() * 8)}.${Math.floor(random() * 8)}.${Math.floor(random() * 4)}`;
}
