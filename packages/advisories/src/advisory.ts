// Advisories of all publishers in one form: JSON-safe values, bounded by the readers.

/**
 * The publisher of the version ranges. `cna`: the CVE record, with CISA's ranges if the CNA has none; `ghsa`: OSV records
 * with a GHSA id.
 */
export type RangeSource = 'nvd' | 'cna' | 'ghsa' | 'osv';
/** In order of precedence: the first source that decides a version is the match's `range_source`. */
export const RANGE_SOURCES: readonly RangeSource[] = ['nvd', 'cna', 'ghsa', 'osv'];

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * One scoring of a vulnerability; `by` is the scorer: `nvd`, `cna`, `cisa-adp`, `ghsa`, `osv` or another short name.
 */
export interface Cvss {
  readonly version: '2.0' | '3.0' | '3.1' | '4.0';
  /** 0.0–10.0, the base score (v4: with the other metrics of the vector). */
  readonly score: number;
  readonly vector: string;
  readonly by: string;
}

/**
 * A product under a publisher's name, in lower case: `cpe:f5:nginx` (CPE 2.3 vendor and product, unescaped), `pkg:npm/next`
 * (package URL without version), `cna:f5/nginx open source` (vendor and product as a CNA writes them).
 */
export type ProductKey = string;

/** The order of a product's versions. */
export type VersionScheme = 'dotted' | 'semver' | 'openssl' | 'python' | 'deb' | 'rpm';

export interface VersionBound {
  readonly version: string;
  readonly isInclusive: boolean;
}

/**
 * From one version to another; a missing bound leaves the range open on that side. Without bounds it is every version.
 */
export interface VersionRange {
  readonly from?: VersionBound;
  readonly to?: VersionBound;
}

/** A publisher's statement on one product: the affected versions, and those that are certainly unaffected. */
export interface ProductClaim {
  readonly kind: 'product';
  /** All names of the same product. */
  readonly products: readonly ProductKey[];
  readonly scheme: VersionScheme;
  readonly affected: readonly VersionRange[];
  /** Single versions; compared, not matched as text. */
  readonly affectedVersions: readonly string[];
  /** Exceptions from the affected ranges: a branch that was fixed earlier. */
  readonly unaffected: readonly VersionRange[];
  /** The status of a version outside of all ranges; `unknown` if the publisher does not define it. */
  readonly otherwise: 'affected' | 'unaffected' | 'unknown';
  /** Affected platforms as the publisher writes them, lower case; empty: all. */
  readonly platforms: readonly string[];
}

/** One CPE match criterion of NVD: a CPE 2.3 name, with bounds where its version is `*`. */
export interface CpeCriterion {
  readonly kind: 'cpe';
  /** CPE 2.3 formatted string. */
  readonly name: string;
  /** False: only the environment in which the vulnerable product runs. */
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

/** One publisher's record of one vulnerability. */
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
  /** Present if the publisher gives a severity without a score. */
  readonly severity: Severity | null;
  readonly claims: readonly Claim[];
  /** The publisher's page. */
  readonly url: string;
}

/** CISA's statement that it is exploited. */
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

/** All data on one vulnerability, from all publishers. */
export interface Advisory {
  /** The CVE id if there is one, otherwise the publisher's. */
  readonly id: string;
  readonly aliases: readonly string[];
  /** `rejected` if the CVE List, or every publisher with a record, has withdrawn it. */
  readonly state: 'published' | 'rejected';
  readonly title: string | null;
  readonly summary: string | null;
  /** Of the earliest record; of the latest. */
  readonly published: string;
  readonly modified: string;
  /**
   * The displayed scoring: NVD's, then the CNA's, then that of other publishers; of one publisher the newest version of
   * CVSS.
   */
  readonly cvss: Cvss | null;
  /** From the CVSS score (FIRST's bands), or the publisher's severity, or null. */
  readonly severity: Severity | null;
  readonly claims: readonly (Claim & { readonly source: RangeSource })[];
  readonly urls: readonly string[];
}
