// What publishers say of a vulnerability, in one form whatever the publisher: JSON-safe values, bounded by the readers.

/**
 * Whose version ranges these are. `cna` is the CVE record: its CNA's, or CISA's where the CNA gives none; `ghsa` is
 * OSV's form with an id of GitHub's.
 */
export type RangeSource = 'nvd' | 'cna' | 'ghsa' | 'osv';
/** In this order one is believed: the first that decides a version is the match's `range_source`. */
export const RANGE_SOURCES: readonly RangeSource[] = ['nvd', 'cna', 'ghsa', 'osv'];

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** One scoring of a vulnerability; `by` is who scored: `nvd`, `cna`, `cisa-adp`, `ghsa`, `osv` or another short name. */
export interface Cvss {
  readonly version: '2.0' | '3.0' | '3.1' | '4.0';
  /** 0.0–10.0, of the base (v4: with what the vector gives besides). */
  readonly score: number;
  readonly vector: string;
  readonly by: string;
}

/**
 * A product as publishers call it, in lower case: `cpe:f5:nginx` (CPE 2.3 vendor and product, unescaped),
 * `pkg:npm/next` (package URL without version), `cna:f5/nginx open source` (vendor and product in a CNA's words).
 */
export type ProductKey = string;

/** How versions of a product are put in order. */
export type VersionScheme = 'dotted' | 'semver' | 'openssl' | 'python' | 'deb' | 'rpm';

export interface VersionBound {
  readonly version: string;
  readonly isInclusive: boolean;
}

/** From one version to another; without a bound it is open on that side, without either it is every version. */
export interface VersionRange {
  readonly from?: VersionBound;
  readonly to?: VersionBound;
}

/** What a publisher says of one product: the versions that are affected, and those that surely are not. */
export interface ProductClaim {
  readonly kind: 'product';
  /** All names of the one product that is meant. */
  readonly products: readonly ProductKey[];
  readonly scheme: VersionScheme;
  readonly affected: readonly VersionRange[];
  /** Single versions; compared, not matched as text. */
  readonly affectedVersions: readonly string[];
  /** Taken out of the affected ones again: a branch that was mended earlier. */
  readonly unaffected: readonly VersionRange[];
  /** What holds for a version that is in no range; `unknown` where the publisher does not say. */
  readonly otherwise: 'affected' | 'unaffected' | 'unknown';
  /** Platforms that it holds on, in the publisher's words, lower case; empty: all. */
  readonly platforms: readonly string[];
}

/** One CPE match criterion of NVD: a CPE 2.3 name, with bounds where its version is `*`. */
export interface CpeCriterion {
  readonly kind: 'cpe';
  /** CPE 2.3 formatted string. */
  readonly name: string;
  /** False: only a place that it must run on. */
  readonly isVulnerable: boolean;
  readonly range: VersionRange;
}

export interface ConfigurationNode {
  readonly kind: 'node';
  readonly operator: 'AND' | 'OR';
  readonly isNegated: boolean;
  readonly children: readonly (ConfigurationNode | CpeCriterion)[];
}

/** An applicability statement of NVD. Several configurations of one CVE are alternatives. */
export interface ConfigurationClaim {
  readonly kind: 'configuration';
  /** Of the vulnerable criteria. */
  readonly products: readonly ProductKey[];
  readonly root: ConfigurationNode;
}

export type Claim = ProductClaim | ConfigurationClaim;

/** One publisher's word on one vulnerability. */
export interface AdvisoryRecord {
  readonly source: RangeSource;
  /** The publisher's own id: `CVE-2021-23017`, `GHSA-…`, `PYSEC-…`. */
  readonly id: string;
  /** Other ids of the same vulnerability, upper case; never `id` itself. */
  readonly aliases: readonly string[];
  readonly state: 'published' | 'rejected';
  /** One line, at most 300 characters. */
  readonly title: string | null;
  /** Plain text in English where there is any, at most 2,000 characters. */
  readonly summary: string | null;
  /** ISO 8601 UTC with `Z`. */
  readonly published: string;
  readonly modified: string;
  readonly cvss: readonly Cvss[];
  /** Where the publisher gives only a word. */
  readonly severity: Severity | null;
  readonly claims: readonly Claim[];
  /** The publisher's page of it. */
  readonly url: string;
}

/** CISA's word that it is exploited. */
export interface KnownExploited {
  readonly cve: string;
  /** `2026-01-31`. */
  readonly dateAdded: string;
  readonly dueDate: string | null;
  readonly isRansomware: boolean;
  readonly requiredAction: string;
}

/** FIRST's estimate for the next 30 days. */
export interface ExploitScore {
  readonly cve: string;
  /** Probability, 0–1. */
  readonly epss: number;
  /** Share of all CVEs that score lower or the same, 0–1. */
  readonly percentile: number;
}

/** Everything that is known of one vulnerability, of all publishers. */
export interface Advisory {
  /** The CVE id where there is one, else the publisher's. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** `rejected` when the CVE List, or every publisher that speaks of it, has withdrawn it. */
  readonly state: 'published' | 'rejected';
  readonly title: string | null;
  readonly summary: string | null;
  /** Of the first publisher; of the last. */
  readonly published: string;
  readonly modified: string;
  /** The scoring that is shown: NVD's before the CNA's before others', the newest version of CVSS of whom that is. */
  readonly cvss: Cvss | null;
  /** From the CVSS score (FIRST's bands), else the publisher's word, else null. */
  readonly severity: Severity | null;
  readonly claims: readonly (Claim & { readonly source: RangeSource })[];
  readonly urls: readonly string[];
}
