// Advisories: a sync against the mere reading of the same pages, and matching at a quarter of a million by a million.
import { openEnrichment, readConfig, runSource } from '@strata/stack';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Figure, mib, perSecond, setting, startChild, thousands, timed } from '../measure.ts';
import type { Matching } from './advisories-process.ts';

const DOMAINS = setting('DOMAINS', 1_000_000);
const ADVISORIES = DOMAINS / 4;
const RECORDS = DOMAINS / 20;

export async function benchAdvisories(): Promise<Figure[]> {
  return [await benchSync(), ...(await benchMatching())];
}

async function benchSync(): Promise<Figure> {
  const process = new URL('./publishers-process.ts', import.meta.url);
  await using publishers = await startChild<{ nvdUrl: string }>(process, { bulk: RECORDS });
  const { nvdUrl } = publishers.ready;
  // Made once before anything is timed: the publisher makes its records when it is first asked.
  await readPages(nvdUrl);
  const bare = await timed(() => readPages(nvdUrl));
  await using directory = await temporaryDirectory();
  const settings = { STRATA_DATA: directory.path, STRATA_ADVISORIES: 'nvd', STRATA_ADVISORY_MIRRORS: `nvd=${nvdUrl}` };
  await using enrichment = await openEnrichment(readConfig(settings), { nvdGapMs: 0 });
  const [nvd] = enrichment.sources;
  if (!nvd) throw new Error('NVD is not configured');
  const { signal } = new AbortController();
  const { value: end, seconds } = await timed(() => runSource(nvd, { ...enrichment, signal }));
  if (end.kind !== 'complete') throw new Error(`the sync ended as ${end.kind}`);
  return [
    `sync ${thousands(end.read)} NVD records`,
    perSecond(end.read / seconds),
    `${(bare.seconds / seconds).toFixed(2)} × fetch and \`JSON.parse\` alone`,
  ];
}

/** The least that any reader of the API must do. */
async function readPages(nvdUrl: string): Promise<void> {
  for (let startIndex = 0, total = 1; startIndex < total; startIndex += 2_000) {
    const response = await fetch(`${nvdUrl}?resultsPerPage=2000&startIndex=${startIndex}`);
    ({ totalResults: total } = (await response.json()) as { totalResults: number });
  }
}

async function benchMatching(): Promise<Figure[]> {
  const options = { advisories: ADVISORIES, domains: DOMAINS };
  await using child = await startChild<Matching>(new URL('./advisories-process.ts', import.meta.url), options);
  const { rss, news, domain, naive } = child.ready;
  return [
    [`${thousands(ADVISORIES)} advisories, ${thousands(DOMAINS)} domains: RSS`, mib(rss), 'goal 2,048 MiB'],
    ['a new advisory, median; worst', `${news.median.toFixed(1)}; ${news.worst.toFixed(1)} ms`],
    [
      'all advisories of a domain, median; p99',
      `${domain.median.toFixed(2)}; ${domain.p99.toFixed(2)} ms`,
      `${thousands(naive / domain.median)} × faster than judging each`,
    ],
  ];
}
