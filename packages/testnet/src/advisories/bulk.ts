// Any number of synthetic vulnerabilities for benches: each is a function of the seed and its number, and is not stored.
import { randomFor } from '../random.ts';
import { ECOSYSTEMS, type Ecosystem, ghsaId, type VulnerabilityFacts } from './facts.ts';

export interface Bulk {
  readonly size: number;
  /** In the order of publication. */
  at(index: number): VulnerabilityFacts;
  publishedAt(index: number): number;
  modifiedAt(index: number): number;
  /** Number of records published, or modified, before a time. */
  publishedBefore(time: number): number;
  modifiedBefore(time: number): number;
  indexOf(id: string): number | undefined;
}

/** The period over which they are evenly spread, and the delay between publication and modification. */
const FIRST = Date.UTC(2003, 0, 1);
const LAST = Date.UTC(2025, 5, 1);
const MODIFIED_AFTER = 2 * 86_400_000;
/** Ids of years that no CVE will have for a long time: `CVE-2900-10000` and on, this many a year. */
const FIRST_YEAR = 2900;
const FIRST_NUMBER = 10_000;
const PER_YEAR = 5_000;
/** Every tenth affects a package. */
export const PACKAGE_EVERY = 10;
const VENDORS = 5_000;

const IMPACTS = ['C:H/I:H/A:H', 'C:L/I:L/A:N', 'C:N/I:N/A:H', 'C:H/I:N/A:N'] as const;

export function bulkOf(seed: string, size: number): Bulk {
  const step = size > 0 ? (LAST - FIRST) / size : 1;
  const publishedAt = (index: number) => FIRST + Math.floor(index * step);
  const publishedBefore = (time: number) => Math.min(size, Math.max(0, Math.ceil((time - FIRST) / step)));
  return {
    size,
    publishedAt,
    publishedBefore,
    modifiedAt: (index) => publishedAt(index) + MODIFIED_AFTER,
    modifiedBefore: (time) => publishedBefore(time - MODIFIED_AFTER),
    at: (index) => factsOf(seed, index, publishedAt(index)),
    indexOf(id) {
      const [, year, number] = /^CVE-(29\d\d)-(\d{5})$/.exec(id) ?? [];
      if (year === undefined) return undefined;
      const within = Number(number) - FIRST_NUMBER;
      const index = (Number(year) - FIRST_YEAR) * PER_YEAR + within;
      return within >= 0 && within < PER_YEAR && index < size ? index : undefined;
    },
  };
}

function factsOf(seed: string, index: number, publishedAt: number): VulnerabilityFacts {
  const r = randomFor(seed, 'bulk', index);
  const vendor = `vendor${r.between(1, VENDORS)}`;
  const product = `product${r.between(1, 8)}`;
  const major = r.between(1, 9);
  const minor = r.between(1, 30);
  const ecosystem: Ecosystem | undefined = index % PACKAGE_EVERY === 0 ? r.pick(ECOSYSTEMS) : undefined;
  return {
    id: `CVE-${FIRST_YEAR + Math.floor(index / PER_YEAR)}-${FIRST_NUMBER + (index % PER_YEAR)}`,
    ...(ecosystem ? { ghsa: ghsaId(r) } : {}),
    title: `Weakness ${r.between(1, 999)} in ${vendor} ${product}`,
    vector: `CVSS:3.1/AV:N/AC:${r.pick(['L', 'H'])}/PR:${r.pick(['N', 'L', 'H'])}/UI:${r.pick(['N', 'R'])}/S:U/${r.pick(IMPACTS)}`,
    published: new Date(publishedAt).toISOString(),
    affected: [
      {
        cpe: `${vendor}:${product}`,
        vendor,
        product,
        ...(ecosystem ? { package: { ecosystem, name: packageName(ecosystem, vendor, product) } } : {}),
        versions: [{ from: `${major}.0.0`, below: `${major}.${minor}.${r.between(0, 20)}` }],
      },
    ],
    ...(r.chance(0.1) ? { nvd: 'awaiting' as const } : {}),
    epss: Math.round(r.next() ** 6 * 1e5) / 1e5,
  };
}

function packageName(ecosystem: Ecosystem, vendor: string, product: string): string {
  return ecosystem === 'Packagist' ? `${vendor}/${product}` : `${vendor}-${product}`;
}
