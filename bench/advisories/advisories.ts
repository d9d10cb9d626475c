// Advisories: a sync against the mere reading of the same pages, and matching at a quarter of a million by a million.
import { openEnrichment, readConfig, runSource } from '@strata/stack';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Figure, perSecond, startChild, timed } from '../measure.ts';

const RECORDS = 50_000;
const ADVISORIES = 250_000;
const DOMAINS = 1_000_000;

export async function benchAdvisories(): Promise<Figure[]> {
  return [...(await benchSync()), ...(await benchMatching())];
}

interface Publishers {
  readonly nvdUrl: string;
}

async function benchSync(): Promise<Figure[]> {
  await using publishers = await startChild<Publishers>(new URL('./publishers-process.ts', import.meta.url), {
    bulk: RECORDS,
  });
  const { nvdUrl } = publishers.ready;
  // Made once before anything is timed: the publisher makes its records when it is first asked.
  await readPages(nvdUrl);
  const bare = await readPages(nvdUrl);
  await using directory = await temporaryDirectory();
  const settings = { STRATA_DATA: directory.path, STRATA_ADVISORIES: 'nvd', STRATA_NVD_URL: nvdUrl };
  await using enrichment = await openEnrichment(readConfig(settings), { nvdGapMs: 0 });
  const [nvd] = enrichment.sources;
  if (!nvd) throw new Error('NVD is not configured');
  const { signal } = new AbortController();
  const { value: end, seconds } = await timed(() => runSource(nvd, { ...enrichment, signal }));
  if (end.kind !== 'complete') throw new Error(`the sync ended as ${end.kind}`);
  return [
    {
      what: `sync of ${end.read.toLocaleString('en-US')} records from NVD's API: read, checked, merged, committed`,
      value: `${perSecond(end.read / seconds)}, ${seconds.toFixed(1)} s`,
      against: `${(bare.seconds / seconds).toFixed(2)} × fetch and JSON.parse of the same pages (${bare.seconds.toFixed(1)} s); NVD itself lets a key have 200,000 records in a minute`,
    },
  ];
}

/** The least that any reader of the API must do. */
const readPages = (nvdUrl: string) =>
  timed(async () => {
    for (let startIndex = 0, total = 1; startIndex < total; startIndex += 2_000) {
      const response = await fetch(`${nvdUrl}?resultsPerPage=2000&startIndex=${startIndex}`);
      ({ totalResults: total } = (await response.json()) as { totalResults: number });
    }
  });

interface Matching {
  readonly written: number;
  readonly openMs: number;
  readonly rss: number;
  readonly exposuresRss: number;
  readonly known: number;
  readonly news: { readonly median: number; readonly worst: number };
  readonly scans: { readonly median: number; readonly p99: number };
  readonly builds: { readonly median: number; readonly worst: number };
  readonly naive: number;
  readonly lists: number;
  readonly affected: number;
}

async function benchMatching(): Promise<Figure[]> {
  await using child = await startChild<Matching>(new URL('./advisories-process.ts', import.meta.url), {
    advisories: ADVISORIES,
    domains: DOMAINS,
  });
  const found = child.ready;
  const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20).toLocaleString('en-US')} MiB`;
  const load = `${ADVISORIES.toLocaleString('en-US')} advisories × ${DOMAINS.toLocaleString('en-US')} domains`;
  return [
    {
      what: `${load}: resident memory, all advisories of products in use`,
      value: `${mib(found.rss)}, of which advisories ${mib(found.exposuresRss)}`,
      against: 'goal 2,048 MiB',
    },
    {
      what: 'advisories read from the store and judged against every version in use, at start',
      value: `${perSecond((found.known * 1_000) / found.openMs)}, ${(found.openMs / 1_000).toFixed(1)} s`,
      against: `${perSecond(found.written)} written to the store`,
    },
    {
      what: 'a new advisory: committed, judged against every version in use, its domains counted',
      value: `median ${found.news.median.toFixed(1)} ms, worst ${found.news.worst.toFixed(1)} ms`,
      against: 'goal: milliseconds',
    },
    {
      what: 'a scanned domain: all its advisories, in order',
      value: `median ${found.scans.median.toFixed(2)} ms, p99 ${found.scans.p99.toFixed(2)} ms; ${perSecond(1_000 / found.scans.median)}`,
      against: `${Math.round(found.naive / found.scans.median).toLocaleString('en-US')} × faster than judging each advisory (${Math.round(found.naive)} ms)`,
    },
    {
      what: 'a new version, judged against all advisories of its product',
      value: `median ${found.builds.median.toFixed(1)} ms, worst ${found.builds.worst.toFixed(1)} ms`,
      against: 'once a version',
    },
    {
      what: 'the first page of advisories; of affected domains',
      value: `${found.lists.toFixed(0)} ms; ${found.affected.toFixed(0)} ms`,
      against: 'computed at most once a second, then served from memory',
    },
  ];
}
