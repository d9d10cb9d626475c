// The advisory publishers of the simulated internet: each on loopback with its own protocol, all with the same facts.
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cvssOf } from './cvss.ts';
import { exploited, passDay } from './days.ts';
import type { VulnerabilityFacts } from './facts.ts';
import { knownVulnerabilities } from './known.ts';
import { Library } from './library.ts';
import { CVE_API_PATH, CVE_RAW_PATH, cveListHandler } from './publishers/cve-list.ts';
import { EPSS_PATH, epssHandler } from './publishers/epss.ts';
import { KEV_PATH, kevHandler } from './publishers/kev.ts';
import { NVD_PATH, nvdHandler } from './publishers/nvd.ts';
import { osvHandler } from './publishers/osv.ts';
import { type Failure, startPublisher } from './publishers/publisher.ts';

export type AdvisorySource = 'nvd' | 'cve-list' | 'kev' | 'epss' | 'osv';

export interface AdvisorySourcesOptions {
  /** Same seed and clock, same records. */
  readonly seed: string;
  readonly now: () => Date;
  /** Additional synthetic records; tested up to 250,000. */
  readonly bulk?: number;
  /** Enables the NVD's rate limits; off by default. */
  readonly rateLimits?: boolean;
  /** Replaces the built-in published vulnerabilities. */
  readonly records?: readonly VulnerabilityFacts[];
}

export interface AdvisorySources extends AsyncDisposable {
  /** Up to and including `/cves/2.0`. */
  readonly nvdUrl: string;
  /** The repository in GitHub's API: `/releases/latest` is appended. */
  readonly cveListUrl: string;
  /** The repository's raw files: `/cves/delta.json` is appended. */
  readonly rawUrl: string;
  /** All of them, as settings of the stack service. */
  readonly settings: Readonly<Record<string, string>>;
  readonly kevUrl: string;
  readonly epssUrl: string;
  /** `/npm/all.zip` is appended. */
  readonly osvUrl: string;
  advance(days: number): void;
  /**
   * Publishes a new or changed record at all publishers; without a date, now. Throws RangeError for a vector that is
   * not CVSS 3.1.
   */
  publish(record: PublishedRecord): void;
  /** Adds it to CISA's list. Throws RangeError for a record that is unknown or part of the bulk. */
  exploit(cve: string): void;
  /** Withdraws it at all publishers. Throws RangeError as `exploit` does. */
  withdraw(id: string): void;
  /** Makes the next requests fail. */
  fail(source: AdvisorySource, failure: Failure & { readonly times: number }): void;
  requests(source: AdvisorySource): number;
  /** The published records without the bulk, as ground truth for matches. */
  records(): readonly VulnerabilityFacts[];
}

export type PublishedRecord = Omit<VulnerabilityFacts, 'published'> & { readonly published?: string };

export async function createAdvisorySources(options: AdvisorySourcesOptions): Promise<AdvisorySources> {
  const { seed, now, bulk = 0, rateLimits = false, records = knownVulnerabilities } = options;
  const library = new Library({ seed, now, bulk, records });
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await mkdtempDisposable(path.join(tmpdir(), 'advisories-')));
  const publishers = {
    nvd: stack.use(await startPublisher(nvdHandler(library, { rateLimits }))),
    'cve-list': stack.use(await startPublisher(cveListHandler(library, { directory }))),
    kev: stack.use(await startPublisher(kevHandler(library))),
    epss: stack.use(await startPublisher(epssHandler(library))),
    osv: stack.use(await startPublisher(osvHandler(library, { directory }))),
  };
  const owned = stack.move();
  const nvdUrl = `${publishers.nvd.origin}${NVD_PATH}`;
  const cveListUrl = `${publishers['cve-list'].origin}${CVE_API_PATH}`;
  const rawUrl = `${publishers['cve-list'].origin}${CVE_RAW_PATH}`;
  const kevUrl = `${publishers.kev.origin}${KEV_PATH}`;
  const epssUrl = `${publishers.epss.origin}${EPSS_PATH}`;
  const osvUrl = publishers.osv.origin;
  return {
    ...{ nvdUrl, cveListUrl, rawUrl, kevUrl, epssUrl, osvUrl },
    settings: {
      STRATA_ADVISORY_MIRRORS: Object.entries({
        ...{ nvd: nvdUrl, kev: kevUrl, epss: epssUrl },
        ...{ osv: osvUrl, cve: cveListUrl, 'cve-raw': rawUrl },
      })
        .map(([source, url]) => `${source}=${url}`)
        .join(','),
    },
    advance(days) {
      for (let i = 0; i < days; i += 1) passDay(library, seed);
    },
    publish(record) {
      if (library.bulk.indexOf(record.id) !== undefined) throw new RangeError(`'${record.id}' is part of the bulk`);
      // Throws here instead of on a later request.
      cvssOf(record.vector);
      library.put([{ published: now().toISOString(), ...record }]);
    },
    exploit(cve) {
      if (!cve.startsWith('CVE-')) throw new RangeError(`CISA does not list '${cve}'`);
      library.put([exploited(library.known(cve), now())]);
    },
    withdraw: (id) => library.put([{ ...library.known(id), isRejected: true }]),
    fail: (source, { times, ...failure }) => publishers[source].fail(failure, times),
    requests: (source) => publishers[source].requests,
    records: () => library.entries().map(({ facts }) => facts),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
