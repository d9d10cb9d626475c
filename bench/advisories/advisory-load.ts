// Many advisories and domains: every advisory names a product of the catalog, most domains show one, many with its version.
import type { Advisory, AdvisoryRecord } from '@strata/advisories';
import { IndexBuilder } from '@strata/analytics';
import { entries } from '@strata/catalog';
import { compileRulebook, loadCatalog, productKeysOf, type Rulebook } from '@strata/detect';
import { randomFrom } from '../../tests/support/random.ts';

export interface LoadedProduct {
  readonly id: string;
  /** `vendor:product` of its first CPE. */
  readonly cpe: string;
}

export const rulebook: Rulebook = compileRulebook(loadCatalog(entries));
export const products: readonly LoadedProduct[] = [...rulebook.providers.values()].flatMap((provider) => {
  const key = productKeysOf(provider).find((each) => each.startsWith('cpe:'));
  return key === undefined ? [] : [{ id: provider.id, cpe: key.slice('cpe:'.length) }];
});

const CVSS = { version: '3.1', vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', by: 'nvd' } as const;

/** In NVD's format: one configuration, two ranges. The same number gives the same record. */
export function recordOf(number: number): AdvisoryRecord {
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
export function advisoryOf(number: number): Pick<Advisory, 'claims'> {
  return { claims: recordOf(number).claims.map((claim) => ({ ...claim, source: 'nvd' })) };
}

/** Seven in ten domains show one or two products, three in four of these with one of some hundred versions. */
export function indexOf(count: number) {
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
