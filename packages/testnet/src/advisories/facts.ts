// The facts of a vulnerability; each publisher formats them in its own way.
import { hashOf } from '../random.ts';

/**
 * An interval of affected versions; `from` is included, `below` is not, `upTo` is. Without any of them: every version.
 */
interface AffectedVersions {
  readonly from?: string;
  readonly below?: string;
  readonly upTo?: string;
}

/** An affected product, under the publishers' names for it. */
export interface AffectedProduct {
  /** Vendor and product of NVD's CPE, `f5:nginx`, and its part if it is not an application. */
  readonly cpe?: string;
  readonly part?: 'a' | 'o' | 'h';
  /** As the CNA writes it. */
  readonly vendor: string;
  readonly product: string;
  /** `npm`, `Packagist`, `PyPI` or `RubyGems`, and the name there. */
  readonly package?: { readonly ecosystem: Ecosystem; readonly name: string };
  readonly versions: readonly AffectedVersions[];
}

export const ECOSYSTEMS = ['npm', 'Packagist', 'PyPI', 'RubyGems'] as const;
export type Ecosystem = (typeof ECOSYSTEMS)[number];

export interface Scoring {
  readonly version: '2.0' | '4.0';
  readonly vector: string;
  readonly score: number;
  readonly severity: 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';
  readonly by: 'nvd' | 'cna';
}

export interface VulnerabilityFacts {
  /** `CVE-…`; GitHub's id if there is no CVE. */
  readonly id: string;
  /** GitHub's id in addition to a CVE. */
  readonly ghsa?: string;
  /** PyPI's additional id. */
  readonly pysec?: string;
  readonly title: string;
  readonly vector: string;
  /** Scorings under other versions of CVSS. */
  readonly scorings?: readonly Scoring[];
  /** `2024-06-09`, or a full time. */
  readonly published: string;
  readonly modified?: string;
  readonly affected: readonly AffectedProduct[];
  /** Only on this platform: the CNA's name for it, and the CPE vendor and product that NVD joins by AND. */
  readonly runsOn?: { readonly label: string; readonly cpe: string; readonly part: 'o' | 'h' };
  /** `awaiting`: in NVD without score or configurations. */
  readonly nvd?: 'awaiting';
  /** The CNA's status of versions that it does not list; `unaffected` by default. */
  readonly otherwise?: 'affected' | 'unknown';
  /** The CNA describes the versions only in prose. */
  readonly isProse?: true;
  /** Day of CISA's listing. */
  readonly kev?: string;
  /** EPSS probability. */
  readonly epss?: number;
  readonly isRejected?: true;
  /** Publishers by mistake publish it in an invalid form. */
  readonly isMalformed?: true;
}

/** A stable text id in GitHub's form, from three numbers, for synthetic records. */
export function ghsaId(random: { between(from: number, to: number): number }): string {
  const alphabet = '23456789cfghjmpqrvwx';
  const part = () => Array.from({ length: 4 }, () => alphabet[random.between(0, alphabet.length - 1)]).join('');
  return `GHSA-${part()}-${part()}-${part()}`;
}

/** The description that all publishers use. */
export function descriptionOf({ title, affected }: VulnerabilityFacts): string {
  return `${title}. Affected: ${affected.map(({ product }) => product).join(', ')}.`;
}

/** A UUID derived from its parts. */
export function uuidOf(...parts: readonly string[]): string {
  const hex = [1, 2, 3, 4]
    .map((n) =>
      hashOf(n, ...parts)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
