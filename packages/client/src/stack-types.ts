// Generated from openapi/stack.json by write-types.ts: `npm run openapi` writes it anew. Not to be edited.

/**
 * absent: looked and not there; unmeasured: the look-up failed; blocked: kept out.
 */
export type Measurement = 'observed' | 'absent' | 'unmeasured' | 'blocked';
/**
 * Null: no source of advisories has been read yet, so nothing is known.
 */
export type OpenAdvisories = {
  /**
   * Advisories that the versions seen are affected by.
   */
  version: number;
  /**
   * Advisories of the products seen that may or may not concern their versions.
   */
  product: number;
  /**
   * Of `version`, those known to be exploited.
   */
  known_exploited: number;
  /**
   * Of `version`.
   */
  by_severity: {
    [k: string]: number;
  };
  /**
   * The most urgent, those of `version` first; at most 10.
   */
  top: Exposure[];
} | null;
/**
 * Bands of the CVSS score (FIRST).
 */
export type AdvisorySeverity = 'low' | 'medium' | 'high' | 'critical';
/**
 * version: a version was seen and is in an affected range. product: the product was seen and nothing more can be said; no claim that it is affected.
 */
export type Match = 'version' | 'product';
export type Severity = 'info' | 'low' | 'medium' | 'high' | 'critical';

/**
 * Each path that is asked by GET: what stands in its path and query, and the body of its answer.
 */
export interface StackPaths {
  /**
   * Health check
   */
  '/health': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      status: 'ok';
      version: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Public keys that receipts are verified with
   */
  '/.well-known/stack-keys.json': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      keys: {
        kty: string;
        crv: string;
        x: string;
        kid: string;
        status: string;
        [k: string]: unknown;
      }[];
      ledger: {
        origin: string;
        url: string;
        verifier_keys: string[];
        rotations?: string[];
      };
    };
  };
  /**
   * Analyzed domain profile
   */
  '/stack/v1/domains/{domain}': {
    path: {
      /**
       * A domain or any host below it, in Unicode or as A-labels.
       */
      domain: string;
    };
    query: Record<string, never>;
    body: {
      domain: string;
      scanned_at: string;
      state: 'active' | 'parked' | 'nonexistent' | 'unmeasured';
      sector: string;
      /**
       * What tells it: the list of whoever runs this service, the suffix, the home page.
       */
      sector_source: ('list' | 'suffix' | 'page') | null;
      services: Service[];
      security: Security;
      /**
       * How well each role was measured by the last scan.
       */
      roles: {
        [k: string]: Measurement;
      };
      redirects_to: string | null;
      advisories: OpenAdvisories;
      /**
       * Version of the rules that read the evidence.
       */
      rulebook: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Provider transition history of the domain
   */
  '/stack/v1/domains/{domain}/changes': {
    path: {
      /**
       * A domain or any host below it, in Unicode or as A-labels.
       */
      domain: string;
    };
    query: {
      category?:
        | 'dns'
        | 'email'
        | 'email_security'
        | 'email_sending'
        | 'hosting'
        | 'cdn'
        | 'security'
        | 'verified_service'
        | 'certificate_authority'
        | 'web_platform';
      limit?: number;
      offset?: number;
    };
    body: {
      domain: string;
      total: number;
      /**
       * Changes of every category that has any, whichever is asked for.
       */
      by_category: {
        category:
          | 'dns'
          | 'email'
          | 'email_security'
          | 'email_sending'
          | 'hosting'
          | 'cdn'
          | 'security'
          | 'verified_service'
          | 'certificate_authority'
          | 'web_platform';
        changes: number;
      }[];
      limit: number;
      offset: number;
      changes: Change[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Domains by name, provider or category
   */
  '/stack/v1/search': {
    path: Record<string, never>;
    query: {
      q?: string;
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      category?:
        | 'dns'
        | 'email'
        | 'email_security'
        | 'email_sending'
        | 'hosting'
        | 'cdn'
        | 'security'
        | 'verified_service'
        | 'certificate_authority'
        | 'web_platform';
      /**
       * Of the service that `provider` and `category` describe, or of any.
       */
      confidence?: 'high' | 'medium' | 'low';
      /**
       * The same, at least: shares of markets count services of `medium` confidence and more.
       */
      min_confidence?: 'high' | 'medium' | 'low';
      /**
       * Another provider that is used besides, by id, name or alias.
       */
      with?: string;
      sector?:
        | 'unknown'
        | 'computer_it'
        | 'media'
        | 'finance_insurance'
        | 'education_research'
        | 'service'
        | 'agriculture_mining'
        | 'community_nonprofit'
        | 'construction_real_estate'
        | 'museums_libraries_entertainment'
        | 'utilities'
        | 'health'
        | 'travel'
        | 'freight_postal'
        | 'government'
        | 'retail_ecommerce'
        | 'manufacturing'
        | 'other';
      /**
       * `live`: active or parked, which the security scorecard counts.
       */
      state?: 'active' | 'parked' | 'nonexistent' | 'unmeasured' | 'live';
      /**
       * Marks of the security posture, separated by commas, all of which it must have: `dmarc_reject`, `spf_valid,dmarc_valid`.
       */
      flag?: string;
      /**
       * Marks of which it must have none: `flag=dnssec_measured&without=dnssec`.
       */
      without?: string;
      /**
       * Of the security score.
       */
      grade?: 'a+' | 'a' | 'b' | 'c' | 'd' | 'f';
      /**
       * Security score from here on; a domain without a score has none of them.
       */
      score_gte?: number;
      /**
       * Security score up to this one.
       */
      score_lte?: number;
      limit?: number;
      offset?: number;
    };
    body: {
      total: number;
      limit: number;
      offset: number;
      results: FoundDomain[];
      did_you_mean?: string[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Aggregate statistics, computed at read time
   */
  '/stack/v1/stats': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      /**
       * Domains that have been scanned.
       */
      domains: number;
      domains_by_state: {
        [k: string]: number;
      };
      /**
       * Services of all domains, of any confidence.
       */
      services: number;
      /**
       * Providers that some domain uses.
       */
      providers: number;
      /**
       * By when they were confirmed.
       */
      migrations: {
        last_24h: number;
        last_7d: number;
        last_30d: number;
      };
      by_category: {
        category:
          | 'dns'
          | 'email'
          | 'email_security'
          | 'email_sending'
          | 'hosting'
          | 'cdn'
          | 'security'
          | 'verified_service'
          | 'certificate_authority'
          | 'web_platform';
        domains: number;
        providers: number;
      }[];
      scans: number;
      computed_at: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Provider leaderboard, top 50 by domain count
   */
  '/stack/v1/stats/providers': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      /**
       * Providers that some domain uses.
       */
      total: number;
      limit: number;
      providers: {
        rank: number;
        provider: string;
        provider_id: string;
        categories: (
          | 'dns'
          | 'email'
          | 'email_security'
          | 'email_sending'
          | 'hosting'
          | 'cdn'
          | 'security'
          | 'verified_service'
          | 'certificate_authority'
          | 'web_platform'
        )[];
        domains: number;
        /**
         * Of all scanned domains.
         */
        share: number;
        /**
         * Domains gained less domains lost, confirmed within 30 days; first scans and changes of our rules count as neither.
         */
        change_30d: number;
      }[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Recent provider migrations
   */
  '/stack/v1/stats/migrations': {
    path: Record<string, never>;
    query: {
      limit?: number;
      offset?: number;
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      /**
       * To the provider, or away from it; both without a provider.
       */
      direction?: 'in' | 'out';
      /**
       * The provider at the other end, by id, name or alias; only together with `provider`.
       */
      other?: string;
      category?:
        | 'dns'
        | 'email'
        | 'email_security'
        | 'email_sending'
        | 'hosting'
        | 'cdn'
        | 'security'
        | 'verified_service'
        | 'certificate_authority'
        | 'web_platform';
      /**
       * Only those confirmed on the last so many UTC days, today among them.
       */
      days?: number;
      /**
       * Only those confirmed within so many hours, as `/stack/v1/stats` counts them; goes before `days`.
       */
      hours?: number;
    };
    body: {
      /**
       * Migrations that fit, confirmed within the window, or within 30 days without one.
       */
      total: number;
      limit: number;
      offset: number;
      /**
       * Whether the list goes on after this page.
       */
      has_more: boolean;
      /**
       * Of `total` and `flows`; a part of a day where `hours` are asked for.
       */
      window_days: number;
      migrations: Migration[];
      /**
       * Who went where, most domains first; at most 100, 1000 of one provider.
       */
      flows: Flow[];
      /**
       * Flows that there are.
       */
      flows_total: number;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Intelligence alerts: migrations and anomalies
   */
  '/stack/v1/alerts': {
    path: Record<string, never>;
    query: {
      limit?: number;
    };
    body: {
      total: number;
      limit: number;
      alerts: Alert[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Anomaly detection, 3-sigma deviations
   */
  '/stack/v1/anomalies': {
    path: Record<string, never>;
    query: {
      /**
       * Only anomalies of this domain.
       */
      domain?: string;
      limit?: number;
    };
    body: {
      total: number;
      limit: number;
      domain?: string;
      method: string;
      anomalies: Anomaly[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * DMARC and SPF adoption across all domains
   */
  '/stack/v1/intelligence/security-scorecard': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      /**
       * Domains that exist, parked ones included.
       */
      domains: number;
      adoption: {
        spf: Adoption;
        spf_fail: Adoption;
        spf_softfail: Adoption;
        spf_neutral: Adoption;
        spf_pass: Adoption;
        spf_permerror: Adoption;
        dmarc: Adoption;
        dmarc_none: Adoption;
        dmarc_quarantine: Adoption;
        dmarc_reject: Adoption;
        dmarc_effective_none: Adoption;
        dmarc_effective_quarantine: Adoption;
        dmarc_effective_reject: Adoption;
        dmarc_reporting: Adoption;
        mta_sts: Adoption;
        tls_rpt: Adoption;
        dnssec: Adoption;
        caa: Adoption;
        bimi: Adoption;
        tls_trusted: Adoption;
      };
      both: Adoption;
      by_sector: {
        sector: string;
        domains: number;
        adoption: {
          spf: Adoption;
          spf_fail: Adoption;
          spf_softfail: Adoption;
          spf_neutral: Adoption;
          spf_pass: Adoption;
          spf_permerror: Adoption;
          dmarc: Adoption;
          dmarc_none: Adoption;
          dmarc_quarantine: Adoption;
          dmarc_reject: Adoption;
          dmarc_effective_none: Adoption;
          dmarc_effective_quarantine: Adoption;
          dmarc_effective_reject: Adoption;
          dmarc_reporting: Adoption;
          mta_sts: Adoption;
          tls_rpt: Adoption;
          dnssec: Adoption;
          caa: Adoption;
          bimi: Adoption;
          tls_trusted: Adoption;
        };
        mean_score: number | null;
      }[];
      grades: {
        grade: 'A+' | 'A' | 'B' | 'C' | 'D' | 'F';
        domains: number;
      }[];
      scored: number;
      mean_score: number | null;
      method: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Provider market share by category
   */
  '/stack/v1/intelligence/market-share': {
    path: Record<string, never>;
    query: {
      category?:
        | 'dns'
        | 'email'
        | 'email_security'
        | 'email_sending'
        | 'hosting'
        | 'cdn'
        | 'security'
        | 'verified_service'
        | 'certificate_authority'
        | 'web_platform';
      include_parked?: 'true' | 'false';
    };
    body: {
      include_parked: boolean;
      method: string;
      categories: Market[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Supply-chain concentration risk for a provider
   */
  '/stack/v1/intelligence/supply-chain/{provider}': {
    path: {
      /**
       * Id, name or alias of a provider, whatever the case: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: Record<string, never>;
    body: {
      provider: string;
      provider_id: string;
      owner: string;
      /**
       * Domains that use it, in any category and with any confidence.
       */
      dependent_domains: number;
      share_by_category: {
        [k: string]: number;
      };
      hhi_by_category: {
        [k: string]: number | null;
      };
      /**
       * Domains with a category in which it is the only provider of high or medium confidence.
       */
      sole_source_domains: number;
      /**
       * What its domains use besides; share of its domains.
       */
      upstream: {
        provider: string;
        provider_id: string;
        domains: number;
        share: number;
      }[];
      /**
       * Whose domains use it besides; share of their domains.
       */
      downstream: {
        provider: string;
        provider_id: string;
        domains: number;
        share: number;
      }[];
      risk_level: 'low' | 'medium' | 'high' | 'critical';
      reasons: string[];
      definition: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Adoption curve and co-adoption of a tool
   */
  '/stack/v1/intelligence/adoption/{tool}': {
    path: {
      /**
       * Id, name or alias of a provider, whatever the case.
       */
      tool: string;
    };
    query: Record<string, never>;
    body: {
      tool: string;
      provider_id: string;
      domains: number;
      share: number;
      method: string;
      curve: {
        date: string;
        domains: number;
        added: number;
        removed: number;
        /**
         * Whether anything was looked up on this day; if not, the numbers are those of the day before.
         */
        measured: boolean;
      }[];
      co_adoption: {
        provider: string;
        provider_id: string;
        domains: number;
        jaccard: number;
        lift: number;
      }[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Domain risk profile: security plus vendor concentration
   */
  '/stack/v1/intelligence/risk/{domain}': {
    path: {
      /**
       * A domain or any host below it, in Unicode or as A-labels.
       */
      domain: string;
    };
    query: Record<string, never>;
    body: {
      domain: string;
      scanned_at: string;
      score: number | null;
      level: ('low' | 'medium' | 'high' | 'critical') | null;
      security: {
        score: number | null;
        level: ('low' | 'medium' | 'high' | 'critical') | null;
        factors: RiskFactor[];
      };
      advisories: OpenAdvisories;
      vendor_concentration: {
        score: number | null;
        level: ('low' | 'medium' | 'high' | 'critical') | null;
        factors: RiskFactor[];
      };
      method: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Enrichment sync state and coverage
   */
  '/stack/v1/enrichment/status': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      sources: AdvisorySource[];
      advisories: {
        /**
         * Vulnerabilities known, of all products.
         */
        total: number;
        /**
         * Of them, those that name a product which is looked for.
         */
        of_known_products: number;
        known_exploited: number;
        /**
         * Vulnerabilities with an EPSS score.
         */
        scored: number;
        /**
         * What publishers say, by whose ranges they are.
         */
        records: {
          [k: string]: number;
        };
      };
      coverage: {
        providers: {
          total: number;
          /**
           * Those that are products with names that publishers know; the others are services.
           */
          products: number;
          /**
           * Products that some domain shows.
           */
          in_use: number;
        };
        domains: {
          total: number;
          /**
           * Domains that show a product which advisories may name.
           */
          with_product: number;
          /**
           * Of them, those that show a version.
           */
          with_version: number;
        };
      };
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Security advisories affecting tracked domains
   */
  '/stack/v1/enrichment/advisories': {
    path: Record<string, never>;
    query: {
      /**
       * Only advisories of this severity: low, medium, high, critical.
       */
      severity?: 'low' | 'medium' | 'high' | 'critical';
      /**
       * Only those that are, or are not, in CISA's catalogue.
       */
      known_exploited?: 'true' | 'false';
      /**
       * Only this advisory: a CVE or GHSA id, in any case.
       */
      advisory?: string;
      limit?: number;
      offset?: number;
    };
    body: {
      total: number;
      limit: number;
      offset: number;
      advisories: Advisory[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Domains affected by known CVEs
   */
  '/stack/v1/enrichment/affected': {
    path: Record<string, never>;
    query: {
      /**
       * Only this domain.
       */
      domain?: string;
      /**
       * Only advisories of this severity: low, medium, high, critical.
       */
      severity?: 'low' | 'medium' | 'high' | 'critical';
      /**
       * Only these.
       */
      match?: 'version' | 'product';
      /**
       * Only those that are, or are not, in CISA's catalogue.
       */
      known_exploited?: 'true' | 'false';
      /**
       * Only this advisory: a CVE or GHSA id, in any case.
       */
      advisory?: string;
      limit?: number;
      offset?: number;
    };
    body: {
      /**
       * Rows that match.
       */
      total: number;
      /**
       * Domains in these rows; one with both is counted in version.
       */
      domains: {
        version: number;
        product: number;
      };
      /**
       * Why there may be no rows: null where nothing was asked for.
       */
      known: {
        /**
         * Whether any source has been read whole.
         */
        advisories: boolean;
        /**
         * Whether the one asked for names a product that is looked for.
         */
        advisory: boolean | null;
        /**
         * Whether the one asked for has been scanned.
         */
        domain: boolean | null;
      };
      limit: number;
      offset: number;
      affected: Affected[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Aggregate statistics of RSS feed domains
   */
  '/stack/v1/feeds/stats': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      feeds: {
        total: number;
        active: number;
        gone: number;
      };
      /**
       * Active feeds that were asked at least once.
       */
      polled: number;
      /**
       * Active feeds whose last poll failed.
       */
      failing: number;
      /**
       * Items that are kept.
       */
      items: number;
      /**
       * Mentions of domains in these items.
       */
      mentions: number;
      /**
       * Domains named within the last 30 days.
       */
      domains: number;
      /**
       * Mentions on each of the last 30 UTC days, today the last.
       */
      per_day: MentionDay[];
      /**
       * The first ten of the last seven days.
       */
      top_domains: FeedLeader[];
      last_poll: string | null;
      computed_at: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Feed domain leaderboard
   */
  '/stack/v1/feeds/leaderboard': {
    path: Record<string, never>;
    query: {
      limit?: number;
      window?: '1d' | '7d' | '30d';
    };
    body: {
      window: '1d' | '7d' | '30d';
      /**
       * Domains named within the window.
       */
      total: number;
      /**
       * Of all of them.
       */
      mentions: number;
      limit: number;
      domains: FeedLeader[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Profile of one feed domain
   */
  '/stack/v1/feeds/domain/{domain}': {
    path: {
      /**
       * A domain or any host below it, in Unicode or as A-labels.
       */
      domain: string;
    };
    query: Record<string, never>;
    body: {
      domain: string;
      /**
       * By all items that are kept.
       */
      mentions: number;
      first_seen: string | null;
      last_seen: string | null;
      windows: MentionWindow[];
      /**
       * The last 30 UTC days, today the last.
       */
      per_day: MentionDay[];
      /**
       * Feeds that name it.
       */
      total: number;
      limit: number;
      /**
       * Those that name it most often first.
       */
      feeds: NamingFeed[];
      /**
       * What it runs, when it was scanned.
       */
      scanned: {
        scanned_at: string;
        state: 'active' | 'parked' | 'nonexistent' | 'unmeasured';
        sector: string;
        services: Service[];
        score: number | null;
        grade: ('A+' | 'A' | 'B' | 'C' | 'D' | 'F') | null;
      } | null;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Security scorecard as CSV, at most 1000 rows
   */
  '/stack/v1/security/export.csv': {
    path: Record<string, never>;
    query: {
      sector?:
        | 'unknown'
        | 'computer_it'
        | 'media'
        | 'finance_insurance'
        | 'education_research'
        | 'service'
        | 'agriculture_mining'
        | 'community_nonprofit'
        | 'construction_real_estate'
        | 'museums_libraries_entertainment'
        | 'utilities'
        | 'health'
        | 'travel'
        | 'freight_postal'
        | 'government'
        | 'retail_ecommerce'
        | 'manufacturing'
        | 'other';
      /**
       * Only scores up to this one.
       */
      score_lte?: number;
    };
    body: string;
  };
  /**
   * Migration history as CSV, at most 1000 rows
   */
  '/stack/v1/migrations/export.csv': {
    path: Record<string, never>;
    query: {
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      /**
       * To the provider, or away from it; both without a provider.
       */
      direction?: 'in' | 'out';
      /**
       * The provider at the other end, by id, name or alias; only together with `provider`.
       */
      other?: string;
      category?:
        | 'dns'
        | 'email'
        | 'email_security'
        | 'email_sending'
        | 'hosting'
        | 'cdn'
        | 'security'
        | 'verified_service'
        | 'certificate_authority'
        | 'web_platform';
      /**
       * Only those confirmed on the last so many UTC days, today among them.
       */
      days?: number;
      /**
       * Only those confirmed within so many hours, as `/stack/v1/stats` counts them; goes before `days`.
       */
      hours?: number;
    };
    body: string;
  };
  /**
   * Domains using a provider as CSV, at most 1000 rows
   */
  '/stack/v1/providers/{provider}/domains.csv': {
    path: {
      /**
       * Id, name or alias of a provider, whatever the case: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: Record<string, never>;
    body: string;
  };
  /**
   * Domains that a provider gained or lost as CSV, at most 1000 rows
   */
  '/stack/v1/providers/{provider}/customers.csv': {
    path: {
      /**
       * Id, name or alias of a provider, whatever the case: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: {
      /**
       * `in`: gained; `out`: lost.
       */
      direction?: 'in' | 'out';
      /**
       * Confirmed on the last so many UTC days, today among them.
       */
      days?: number;
    };
    body: string;
  };
  /**
   * Provider detail, its domains and market context
   */
  '/stack/v1/providers/{provider}': {
    path: {
      /**
       * Id, name or alias of a provider, whatever the case: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: {
      limit?: number;
      offset?: number;
    };
    body: {
      provider: string;
      provider_id: string;
      owner: string;
      aliases: string[];
      website: string | null;
      /**
       * What it is, the most characteristic first.
       */
      kinds: (
        | 'registrar'
        | 'dns-host'
        | 'domain-marketplace'
        | 'mailbox'
        | 'mail-gateway'
        | 'mail-forwarding'
        | 'transactional-email'
        | 'email-marketing'
        | 'email-authentication'
        | 'email-signature'
        | 'cloud'
        | 'web-host'
        | 'managed-host'
        | 'app-platform'
        | 'static-host'
        | 'object-storage'
        | 'cdn'
        | 'waf'
        | 'ddos-protection'
        | 'bot-management'
        | 'certificate-authority'
        | 'network-operator'
        | 'site-builder'
        | 'cms'
        | 'ecommerce'
        | 'forum'
        | 'wiki'
        | 'learning-platform'
        | 'landing-pages'
        | 'web-server'
        | 'application-server'
        | 'web-framework'
        | 'ui-library'
        | 'language'
        | 'control-panel'
        | 'operating-system'
        | 'cache'
        | 'analytics'
        | 'product-analytics'
        | 'session-replay'
        | 'ab-testing'
        | 'tag-manager'
        | 'advertising'
        | 'affiliate'
        | 'consent'
        | 'personalisation'
        | 'marketing-automation'
        | 'crm'
        | 'forms'
        | 'surveys'
        | 'reviews'
        | 'loyalty'
        | 'search'
        | 'recommendations'
        | 'live-chat'
        | 'help-desk'
        | 'status-page'
        | 'documentation'
        | 'scheduling'
        | 'video'
        | 'maps'
        | 'fonts'
        | 'social'
        | 'comments'
        | 'payments'
        | 'accessibility'
        | 'translation'
        | 'monitoring'
        | 'error-tracking'
        | 'feature-flags'
        | 'push-notifications'
        | 'customer-data'
        | 'identity'
        | 'single-sign-on'
        | 'device-management'
        | 'collaboration'
        | 'video-conferencing'
        | 'project-management'
        | 'file-sharing'
        | 'e-signature'
        | 'design'
        | 'source-hosting'
        | 'developer-tools'
        | 'ai'
        | 'data-platform'
        | 'security'
        | 'security-training'
        | 'compliance'
        | 'password-manager'
        | 'hr'
        | 'recruiting'
        | 'finance'
        | 'erp'
        | 'sales'
        | 'telephony'
        | 'events'
        | 'publishing'
        | 'search-engine'
        | 'app-store'
      )[];
      /**
       * In which some domain uses it.
       */
      categories: (
        | 'dns'
        | 'email'
        | 'email_security'
        | 'email_sending'
        | 'hosting'
        | 'cdn'
        | 'security'
        | 'verified_service'
        | 'certificate_authority'
        | 'web_platform'
      )[];
      domains: {
        total: number;
        limit: number;
        offset: number;
        /**
         * In alphabetical order.
         */
        results: FoundDomain[];
      };
      market: {
        /**
         * Among all providers by the number of domains; null without any.
         */
        rank: number | null;
        /**
         * Of all scanned domains.
         */
        share: number;
        change_30d: number;
        by_category: {
          category:
            | 'dns'
            | 'email'
            | 'email_security'
            | 'email_sending'
            | 'hosting'
            | 'cdn'
            | 'security'
            | 'verified_service'
            | 'certificate_authority'
            | 'web_platform';
          domains: number;
          share: number;
          rank: number;
          providers: number;
          hhi: number | null;
          band: string;
        }[];
      };
      /**
       * Domains that began to use it at all, confirmed within 30 days.
       */
      gained_30d: number;
      /**
       * Domains that stopped using it altogether, confirmed within 30 days.
       */
      lost_30d: number;
      /**
       * Migrations of single services to it and away from it: a domain that moves two counts twice.
       */
      moves_30d: {
        in: number;
        out: number;
      };
      /**
       * What these add up to, most domains first; at most 50.
       */
      flows_30d: Flow[];
      advisories: OpenAdvisories;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Domains that a provider gained or lost, and where they came from or went
   */
  '/stack/v1/providers/{provider}/customers': {
    path: {
      /**
       * Id, name or alias of a provider, whatever the case: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: {
      /**
       * `in`: gained; `out`: lost.
       */
      direction?: 'in' | 'out';
      /**
       * Confirmed on the last so many UTC days, today among them.
       */
      days?: number;
      limit?: number;
      offset?: number;
    };
    body: {
      provider: string;
      provider_id: string;
      direction: 'in' | 'out';
      days: number;
      /**
       * The first day of the window.
       */
      since: string;
      /**
       * All that came, or went, within the window.
       */
      total: number;
      limit: number;
      offset: number;
      customers: Customer[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * The same events as JSON, for polling
   */
  '/stack/v1/stream/json': {
    path: Record<string, never>;
    query: {
      /**
       * ISO 8601 with a zone; events told after it.
       */
      since?: string;
      limit?: number;
      /**
       * Only these, separated by commas: migration, anomaly, service_change, advisory.
       */
      types?: string;
      /**
       * Only events of this domain.
       */
      domain?: string;
      /**
       * Only events of this provider: id, name or alias.
       */
      provider?: string;
      category?:
        | 'dns'
        | 'email'
        | 'email_security'
        | 'email_sending'
        | 'hosting'
        | 'cdn'
        | 'security'
        | 'verified_service'
        | 'certificate_authority'
        | 'web_platform';
    };
    body: {
      events: (MigrationEvent | ServiceChangeEvent | AnomalyEvent | AdvisoryEvent)[];
      next_since: string;
      has_more: boolean;
      gap?: {
        from: string;
        to: string;
        reason: string;
      };
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Signed tree head of the ledger
   */
  '/ledger/checkpoint': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: string;
  };
  /**
   * Leaf and inclusion proof of a receipt
   */
  '/ledger/receipts/{ledger_receipt_id}': {
    path: {
      ledger_receipt_id: string;
    };
    query: Record<string, never>;
    body: {
      ledger_receipt_id: string;
      receipt_id: string;
      leaf: string;
      index: number;
      tree_size: number;
      proof: string[];
      checkpoint: string;
    };
  };
  /**
   * The same as a C2SP tlog-proof
   */
  '/ledger/receipts/{ledger_receipt_id}/proof': {
    path: {
      ledger_receipt_id: string;
    };
    query: Record<string, never>;
    body: string;
  };
  /**
   * This description
   */
  '/openapi.json': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      openapi: string;
      [k: string]: unknown;
    };
  };
  /**
   * What a problem means
   */
  '/problems/{code}': {
    path: {
      code: string;
    };
    query: Record<string, never>;
    body: {
      code: string;
      status: number;
      title: string;
      detail: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
}
/**
 * The receipt of this body; see the description of the API.
 */
export interface Provenance {
  receipt_id: string;
  signature: string;
  public_key_url: string;
  signed_at: string;
  ledger_receipt_id: string;
  key_id: string;
}
export interface Service {
  category:
    | 'dns'
    | 'email'
    | 'email_security'
    | 'email_sending'
    | 'hosting'
    | 'cdn'
    | 'security'
    | 'verified_service'
    | 'certificate_authority'
    | 'web_platform';
  /**
   * The part that the provider plays.
   */
  role:
    'dns' | 'mailbox' | 'gateway' | 'sender' | 'origin' | 'edge' | 'protection' | 'verified' | 'issuer' | 'platform';
  provider: string;
  provider_id: string;
  confidence: 'high' | 'medium' | 'low';
  first_seen: string;
  last_seen: string;
  /**
   * As a header or the page shows it.
   */
  version: string | null;
  /**
   * What the version was made for, where that is shown: `ubuntu`.
   */
  platform: string | null;
  evidence: {
    source:
      'ns' | 'soa' | 'mx' | 'spf' | 'txt' | 'dmarc' | 'caa' | 'cname' | 'asn' | 'header' | 'cookie' | 'html' | 'tls';
    value: string;
    rule: string;
  }[];
  /**
   * Why it is claimed, in one sentence.
   */
  explanation: string;
  /**
   * What the provider is, finer than the category.
   */
  kinds: (
    | 'registrar'
    | 'dns-host'
    | 'domain-marketplace'
    | 'mailbox'
    | 'mail-gateway'
    | 'mail-forwarding'
    | 'transactional-email'
    | 'email-marketing'
    | 'email-authentication'
    | 'email-signature'
    | 'cloud'
    | 'web-host'
    | 'managed-host'
    | 'app-platform'
    | 'static-host'
    | 'object-storage'
    | 'cdn'
    | 'waf'
    | 'ddos-protection'
    | 'bot-management'
    | 'certificate-authority'
    | 'network-operator'
    | 'site-builder'
    | 'cms'
    | 'ecommerce'
    | 'forum'
    | 'wiki'
    | 'learning-platform'
    | 'landing-pages'
    | 'web-server'
    | 'application-server'
    | 'web-framework'
    | 'ui-library'
    | 'language'
    | 'control-panel'
    | 'operating-system'
    | 'cache'
    | 'analytics'
    | 'product-analytics'
    | 'session-replay'
    | 'ab-testing'
    | 'tag-manager'
    | 'advertising'
    | 'affiliate'
    | 'consent'
    | 'personalisation'
    | 'marketing-automation'
    | 'crm'
    | 'forms'
    | 'surveys'
    | 'reviews'
    | 'loyalty'
    | 'search'
    | 'recommendations'
    | 'live-chat'
    | 'help-desk'
    | 'status-page'
    | 'documentation'
    | 'scheduling'
    | 'video'
    | 'maps'
    | 'fonts'
    | 'social'
    | 'comments'
    | 'payments'
    | 'accessibility'
    | 'translation'
    | 'monitoring'
    | 'error-tracking'
    | 'feature-flags'
    | 'push-notifications'
    | 'customer-data'
    | 'identity'
    | 'single-sign-on'
    | 'device-management'
    | 'collaboration'
    | 'video-conferencing'
    | 'project-management'
    | 'file-sharing'
    | 'e-signature'
    | 'design'
    | 'source-hosting'
    | 'developer-tools'
    | 'ai'
    | 'data-platform'
    | 'security'
    | 'security-training'
    | 'compliance'
    | 'password-manager'
    | 'hr'
    | 'recruiting'
    | 'finance'
    | 'erp'
    | 'sales'
    | 'telephony'
    | 'events'
    | 'publishing'
    | 'search-engine'
    | 'app-store'
  )[];
}
/**
 * Security posture. Unmeasured factors leave the denominator of the score.
 */
export interface Security {
  spf: {
    status: Measurement;
    /**
     * permerror: receivers that read the whole policy end in a permanent error.
     */
    result: 'valid' | 'none' | 'permerror' | 'unmeasured';
    record: string | null;
    /**
     * As the record ends.
     */
    all: ('-all' | '~all' | '?all' | '+all') | null;
    /**
     * Of the policy with its includes; unknown: one of them could not be looked up.
     */
    evaluation: 'valid' | 'invalid' | 'unknown' | 'none' | 'unmeasured';
    /**
     * In force, through `redirect=`.
     */
    effective_all: ('-all' | '~all' | '?all' | '+all') | null;
    /**
     * Anybody may send.
     */
    is_open: boolean;
    /**
     * Terms that cause look-ups: at most ten are allowed (RFC 7208, 4.6.4).
     */
    lookups: number;
    /**
     * Terms without an answer, as far as known: at most two are allowed.
     */
    void_lookups: number;
    /**
     * Addresses that `ip4` terms let send.
     */
    authorized_ipv4: number;
    /**
     * Has terms with macros, which depend on the sender and were not resolved.
     */
    is_dynamic: boolean;
    problems: {
      code: string;
      at: string;
      term: string;
    }[];
    /**
     * Hosts that the policy names; depth: how many policies of others stand between.
     */
    senders: {
      host: string;
      depth: number;
    }[];
  };
  dmarc: {
    status: Measurement;
    record: string | null;
    /**
     * As receivers read it: none where a published one cannot be read and reports are asked for.
     */
    policy: ('none' | 'quarantine' | 'reject') | null;
    /**
     * After `t=y` lowered it.
     */
    effective_policy: ('none' | 'quarantine' | 'reject') | null;
    subdomain_policy: ('none' | 'quarantine' | 'reject') | null;
    has_reporting: boolean;
    /**
     * The domain, or the parent whose record is in force (RFC 9989, 4.10).
     */
    found_at: string | null;
    effective_subdomain_policy: ('none' | 'quarantine' | 'reject') | null;
    nonexistent_policy: ('none' | 'quarantine' | 'reject') | null;
    effective_nonexistent_policy: ('none' | 'quarantine' | 'reject') | null;
    is_testing: boolean;
    /**
     * Whether a host that reports go to agrees to receive them (RFC 9990).
     */
    reporting: 'none' | 'authorized' | 'unauthorized' | 'unknown';
    refusing_hosts: string[];
    problems: {
      code: string;
      term: string;
    }[];
  };
  dkim: {
    status: Measurement;
    selectors: string[];
    keys: {
      selector: string;
      type: string;
      bits: number | null;
      is_testing: boolean;
      problem: ('revoked' | 'unknown-type' | 'unreadable' | 'sha1-only' | 'not-for-mail' | 'weak' | 'short') | null;
    }[];
  };
  dnssec: {
    status: Measurement;
    is_signed: boolean | null;
    algorithms: number[];
    is_weak: boolean | null;
    validation: 'secure' | 'insecure' | 'bogus' | 'unknown';
  };
  caa: {
    status: Measurement;
    issuers: string[];
    wildcard_issuers: string[];
    is_restricted: boolean;
    has_incident_contact: boolean;
    unknown_critical: string[];
    /**
     * Whether the authority of the certificate is among them.
     */
    permits_issuer: boolean | null;
  };
  mta_sts: {
    status: Measurement;
    has_record: boolean | null;
    mode: ('enforce' | 'testing' | 'none') | null;
    /**
     * Seconds.
     */
    max_age: number | null;
    problem:
      | (
          | 'several-records'
          | 'unreadable-record'
          | 'bad-id'
          | 'no-policy'
          | 'bad-policy'
          | 'mx-mismatch'
          | 'short-max-age'
        )
      | null;
  };
  tls_rpt: {
    status: Measurement;
    has_record: boolean | null;
    has_address: boolean | null;
    problem: ('several-records' | 'unreadable-record') | null;
  };
  bimi: {
    status: Measurement;
    has_record: boolean | null;
    has_logo: boolean | null;
    has_certificate: boolean | null;
    /**
     * The DMARC policy is strict enough for a logo to be shown.
     */
    is_eligible: boolean | null;
  };
  tls: {
    status: Measurement;
    protocol: string | null;
    is_trusted: boolean | null;
    problem: string | null;
    valid_to: string | null;
    issue:
      | (
          | 'expired'
          | 'not-yet-valid'
          | 'name-mismatch'
          | 'self-signed'
          | 'untrusted-root'
          | 'incomplete-chain'
          | 'revoked'
          | 'untrusted'
        )
      | null;
    /**
     * Whole days from the scan to the end of the certificate.
     */
    days_left: number | null;
  };
  hsts: {
    status: Measurement;
    /**
     * Seconds.
     */
    max_age: number | null;
    includes_subdomains: boolean;
    is_preload: boolean;
  };
  /**
   * Of the home page.
   */
  headers: {
    status: Measurement;
    content_security_policy: ('none' | 'report-only' | 'weak' | 'strong') | null;
    is_sniffing_off: boolean | null;
    is_framing_limited: boolean | null;
    is_referrer_careful: boolean | null;
    has_permissions_policy: boolean | null;
  };
  security_txt: {
    status: Measurement;
    expires: string | null;
    is_signed: boolean;
    problem: ('no-contact' | 'no-expiry' | 'expired') | null;
  };
  factors: {
    factor:
      | 'spf'
      | 'dmarc'
      | 'dkim'
      | 'dnssec'
      | 'caa'
      | 'mta_sts'
      | 'tls_rpt'
      | 'bimi'
      | 'tls'
      | 'hsts'
      | 'headers'
      | 'security_txt';
    finding: 'pass' | 'partial' | 'fail' | 'unmeasured';
    points: number;
    /**
     * Points that could be had by what was measured.
     */
    possible: number;
    /**
     * Points of the factor in full; 0: reported and not scored.
     */
    weight: number;
    /**
     * Stable name of the finding.
     */
    id: string;
    /**
     * All that keeps it from full points, gravest first.
     */
    issues: string[];
    evidence: string | null;
    /**
     * What the owner does about it; null where there is nothing to do.
     */
    advice: string | null;
  }[];
  score: number | null;
  grade: ('A+' | 'A' | 'B' | 'C' | 'D' | 'F') | null;
  coverage: number;
  score_version: string;
}
export interface Exposure {
  /**
   * CVE id where there is one, else the id of GHSA or OSV.
   */
  id: string;
  severity: AdvisorySeverity | null;
  cvss: number | null;
  /**
   * Probability of exploitation within 30 days (FIRST).
   */
  epss: number | null;
  /**
   * In CISA's catalogue.
   */
  known_exploited: boolean;
  /**
   * act: exploited or EPSS from 0.5; attend: EPSS from 0.1 or critical; else track.
   */
  priority: 'act' | 'attend' | 'track';
  published: string;
  title: string | null;
  match: Match;
  /**
   * in_range: the version seen is affected. Of a product match: no_version: none was seen; no_range: publishers give none that can be compared, or the version is shown too short to tell; condition: affected only together with something that was not seen; backport: a distribution mends old versions without a new number.
   */
  reason: 'in_range' | 'no_version' | 'no_range' | 'condition' | 'backport';
  product: string;
  product_id: string;
  /**
   * As the publisher of `range_source` gives it; null where none does.
   */
  version_range: string | null;
  range_source: ('nvd' | 'cna' | 'ghsa' | 'osv') | null;
  /**
   * As the domain shows it.
   */
  version: string | null;
  platform: string | null;
}
export interface Change {
  id: string;
  /**
   * When it was first observed.
   */
  at: string;
  /**
   * When a second observation agreed.
   */
  confirmed_at: string;
  category:
    | 'dns'
    | 'email'
    | 'email_security'
    | 'email_sending'
    | 'hosting'
    | 'cdn'
    | 'security'
    | 'verified_service'
    | 'certificate_authority'
    | 'web_platform';
  role: string;
  type: 'added' | 'removed' | 'migrated' | 'reclassified';
  from: string | null;
  to: string | null;
  from_id: string | null;
  to_id: string | null;
  confidence: 'high' | 'medium' | 'low';
  importance: 'high' | 'medium' | 'low';
}
export interface FoundDomain {
  domain: string;
  scanned_at: string;
  state: 'active' | 'parked' | 'nonexistent' | 'unmeasured';
  sector: string;
  score: number | null;
  services: {
    category:
      | 'dns'
      | 'email'
      | 'email_security'
      | 'email_sending'
      | 'hosting'
      | 'cdn'
      | 'security'
      | 'verified_service'
      | 'certificate_authority'
      | 'web_platform';
    provider: string;
    provider_id: string;
    confidence: 'high' | 'medium' | 'low';
  }[];
}
export interface Migration {
  id: string;
  /**
   * When it was first observed.
   */
  at: string;
  /**
   * When a second observation agreed.
   */
  confirmed_at: string;
  category:
    | 'dns'
    | 'email'
    | 'email_security'
    | 'email_sending'
    | 'hosting'
    | 'cdn'
    | 'security'
    | 'verified_service'
    | 'certificate_authority'
    | 'web_platform';
  role: string;
  type: 'added' | 'removed' | 'migrated' | 'reclassified';
  from: string | null;
  to: string | null;
  from_id: string | null;
  to_id: string | null;
  confidence: 'high' | 'medium' | 'low';
  importance: 'high' | 'medium' | 'low';
  domain: string;
}
export interface Flow {
  category:
    | 'dns'
    | 'email'
    | 'email_security'
    | 'email_sending'
    | 'hosting'
    | 'cdn'
    | 'security'
    | 'verified_service'
    | 'certificate_authority'
    | 'web_platform';
  from: string;
  from_id: string;
  to: string;
  to_id: string;
  domains: number;
}
export interface Alert {
  id: string;
  at: string;
  kind: 'migration' | 'anomaly' | 'advisory' | 'security';
  severity: Severity;
  domain?: string;
  provider?: string;
  provider_id?: string;
  title: string;
  detail: string;
  /**
   * Where the data that it rests on are.
   */
  ref: string;
}
export interface Anomaly {
  id: string;
  /**
   * End of the day that stands out; for a domain the scan.
   */
  at: string;
  /**
   * Name of the provider, category or domain.
   */
  subject: string;
  subject_kind: 'provider' | 'category' | 'domain';
  subject_id: string;
  metric: 'domains' | 'gains' | 'losses' | 'migrations' | 'services' | 'changes' | 'records';
  value: number;
  /**
   * Mean of the window, the day itself excluded.
   */
  mean: number;
  /**
   * Standard deviation, at least what chance alone would give (Poisson).
   */
  stddev: number;
  /**
   * (value - mean) / stddev.
   */
  sigma: number;
  direction: 'up' | 'down';
  severity: Severity;
  window_days: number;
  /**
   * Days of the window that could be read.
   */
  samples: number;
  /**
   * How likely such a day is when nothing happens.
   */
  chance: number;
}
/**
 * How many have it, and of how many that could be measured.
 */
export interface Adoption {
  domains: number;
  measured: number;
  share: number | null;
}
export interface Market {
  category:
    | 'dns'
    | 'email'
    | 'email_security'
    | 'email_sending'
    | 'hosting'
    | 'cdn'
    | 'security'
    | 'verified_service'
    | 'certificate_authority'
    | 'web_platform';
  /**
   * Domains in which somebody holds the role: attributed, self-hosted and unknown.
   */
  domains: number;
  /**
   * What shares and HHI are of: attributed and self-hosted domains.
   */
  denominator: number;
  attributed_share: number | null;
  self_hosted_share: number | null;
  unknown_share: number | null;
  /**
   * Domains whose role could not be measured; in no other number.
   */
  unmeasured: number;
  /**
   * By brand.
   */
  hhi: number | null;
  hhi_by_owner: number | null;
  /**
   * `insufficient_data` below 200 domains or with less than half of them attributed.
   */
  band: 'unconcentrated' | 'moderate' | 'high' | 'insufficient_data';
  /**
   * Share of the four largest.
   */
  cr4: number | null;
  /**
   * 10,000 / HHI: as many equal providers would be as concentrated.
   */
  effective_providers: number | null;
  /**
   * Providers in this market.
   */
  total: number;
  providers: {
    provider: string;
    provider_id: string;
    owner: string;
    domains: number;
    share: number;
  }[];
}
export interface RiskFactor {
  factor: string;
  /**
   * Of the whole profile.
   */
  weight: number;
  /**
   * Null: could not be measured, and is in no score.
   */
  risk: number | null;
  finding: string;
}
export interface AdvisorySource {
  source: string;
  /**
   * complete: the last sync ended whole. interrupted: it was stopped; the next one goes on with it.
   */
  state: 'never' | 'syncing' | 'complete' | 'failed' | 'interrupted' | 'off';
  /**
   * When the last whole sync ended.
   */
  last_sync: string | null;
  started: string | null;
  next_sync: string | null;
  /**
   * Records kept of it.
   */
  records: number;
  /**
   * Records read by the running sync, or the last one that found any.
   */
  read: number;
  /**
   * Of those read, the ones that could not be understood.
   */
  skipped: number;
  skipped_example: string | null;
  error: string | null;
}
export interface Advisory {
  /**
   * CVE id where there is one, else the id of GHSA or OSV.
   */
  id: string;
  severity: AdvisorySeverity | null;
  cvss: number | null;
  /**
   * Probability of exploitation within 30 days (FIRST).
   */
  epss: number | null;
  /**
   * In CISA's catalogue.
   */
  known_exploited: boolean;
  /**
   * act: exploited or EPSS from 0.5; attend: EPSS from 0.1 or critical; else track.
   */
  priority: 'act' | 'attend' | 'track';
  published: string;
  aliases: string[];
  title: string | null;
  summary: string | null;
  cvss_version: string | null;
  cvss_vector: string | null;
  cvss_source: string | null;
  epss_percentile: number | null;
  exploited: {
    date_added: string;
    due_date: string | null;
    ransomware: boolean;
    required_action: string;
  } | null;
  modified: string;
  match: Match;
  domains: {
    /**
     * Domains that show an affected version.
     */
    version: number;
    /**
     * Further domains that use the product; whether they are affected is not known.
     */
    product: number;
  };
  products: {
    product: string;
    product_id: string;
    /**
     * As the publisher of `range_source` gives it; null where none does.
     */
    version_range: string | null;
    range_source: ('nvd' | 'cna' | 'ghsa' | 'osv') | null;
    domains: {
      /**
       * Domains that show an affected version.
       */
      version: number;
      /**
       * Further domains that use the product; whether they are affected is not known.
       */
      product: number;
    };
  }[];
  /**
   * Domains that show an affected version: at most 10 of them; `/enrichment/affected` has all.
   */
  affected: string[];
  references: string[];
}
export interface Affected {
  /**
   * CVE id where there is one, else the id of GHSA or OSV.
   */
  id: string;
  severity: AdvisorySeverity | null;
  cvss: number | null;
  /**
   * Probability of exploitation within 30 days (FIRST).
   */
  epss: number | null;
  /**
   * In CISA's catalogue.
   */
  known_exploited: boolean;
  /**
   * act: exploited or EPSS from 0.5; attend: EPSS from 0.1 or critical; else track.
   */
  priority: 'act' | 'attend' | 'track';
  published: string;
  title: string | null;
  match: Match;
  /**
   * in_range: the version seen is affected. Of a product match: no_version: none was seen; no_range: publishers give none that can be compared, or the version is shown too short to tell; condition: affected only together with something that was not seen; backport: a distribution mends old versions without a new number.
   */
  reason: 'in_range' | 'no_version' | 'no_range' | 'condition' | 'backport';
  product: string;
  product_id: string;
  /**
   * As the publisher of `range_source` gives it; null where none does.
   */
  version_range: string | null;
  range_source: ('nvd' | 'cna' | 'ghsa' | 'osv') | null;
  /**
   * As the domain shows it.
   */
  version: string | null;
  platform: string | null;
  domain: string;
}
export interface MentionDay {
  date: string;
  mentions: number;
}
export interface FeedLeader {
  /**
   * Equal ones share a place: 1, 2, 2, 4.
   */
  rank: number;
  domain: string;
  mentions: number;
  /**
   * Feeds that named it within the window.
   */
  feeds: number;
  /**
   * Place in the window before; null: it was not named in it.
   */
  previous_rank: number | null;
  /**
   * Places climbed since the window before; null where there is no place to compare.
   */
  movement: number | null;
  /**
   * Of all mentions within the window.
   */
  share: number;
  /**
   * Whether it is scanned here, or waits for its first scan.
   */
  tracked: boolean;
  /**
   * Of its security, when it was scanned.
   */
  score: number | null;
  grade: ('A+' | 'A' | 'B' | 'C' | 'D' | 'F') | null;
}
export interface MentionWindow {
  window: '1d' | '7d' | '30d';
  mentions: number;
  feeds: number;
  /**
   * Mentions in the window before, as long as this one.
   */
  previous: number;
  change: number;
  /**
   * new: not named before; none: named in neither.
   */
  trend: 'new' | 'up' | 'down' | 'same' | 'none';
}
export interface NamingFeed {
  url: string;
  title: string | null;
  site_url: string | null;
  mentions: number;
  last_seen: string;
  latest: {
    title: string | null;
    url: string | null;
    published: string | null;
  };
}
/**
 * The change with which a domain came or went.
 */
export interface Customer {
  id: string;
  /**
   * When it was first observed.
   */
  at: string;
  /**
   * When a second observation agreed.
   */
  confirmed_at: string;
  category:
    | 'dns'
    | 'email'
    | 'email_security'
    | 'email_sending'
    | 'hosting'
    | 'cdn'
    | 'security'
    | 'verified_service'
    | 'certificate_authority'
    | 'web_platform';
  role: string;
  type: 'added' | 'removed' | 'migrated' | 'reclassified';
  from: string | null;
  to: string | null;
  from_id: string | null;
  to_id: string | null;
  confidence: 'high' | 'medium' | 'low';
  importance: 'high' | 'medium' | 'low';
  domain: string;
  /**
   * Where it went, or came from, service by service; empty where nobody else is known to have followed.
   */
  moves: {
    category:
      | 'dns'
      | 'email'
      | 'email_security'
      | 'email_sending'
      | 'hosting'
      | 'cdn'
      | 'security'
      | 'verified_service'
      | 'certificate_authority'
      | 'web_platform';
    provider: string;
    provider_id: string;
  }[];
}
export interface MigrationEvent {
  _alpha: true;
  _notice: string;
  id: string;
  /**
   * When it was confirmed.
   */
  at: string;
  /**
   * When it was told, to the microsecond; no two events share it.
   */
  published_at: string;
  provenance: {
    receipt_id: string;
    signature: string;
    ledger_receipt_id: string;
    [k: string]: unknown;
  };
  domain: string;
  change: Change;
  type: 'migration';
}
export interface ServiceChangeEvent {
  _alpha: true;
  _notice: string;
  id: string;
  /**
   * When it was confirmed.
   */
  at: string;
  /**
   * When it was told, to the microsecond; no two events share it.
   */
  published_at: string;
  provenance: {
    receipt_id: string;
    signature: string;
    ledger_receipt_id: string;
    [k: string]: unknown;
  };
  domain: string;
  change: Change;
  type: 'service_change';
}
export interface AnomalyEvent {
  _alpha: true;
  _notice: string;
  id: string;
  /**
   * When it was confirmed.
   */
  at: string;
  /**
   * When it was told, to the microsecond; no two events share it.
   */
  published_at: string;
  provenance: {
    receipt_id: string;
    signature: string;
    ledger_receipt_id: string;
    [k: string]: unknown;
  };
  type: 'anomaly';
  domain?: string;
  anomaly: Anomaly;
}
export interface AdvisoryEvent {
  _alpha: true;
  _notice: string;
  id: string;
  /**
   * When it was confirmed.
   */
  at: string;
  /**
   * When it was told, to the microsecond; no two events share it.
   */
  published_at: string;
  provenance: {
    receipt_id: string;
    signature: string;
    ledger_receipt_id: string;
    [k: string]: unknown;
  };
  type: 'advisory';
  domain?: string;
  /**
   * published: it became known; exploited: it is known to be exploited; exposed: a scan of `domain` shows affected versions.
   */
  reason: 'published' | 'exploited' | 'exposed';
  advisories: AdvisoryNews[];
}
export interface AdvisoryNews {
  /**
   * CVE id where there is one, else the id of GHSA or OSV.
   */
  id: string;
  severity: AdvisorySeverity | null;
  cvss: number | null;
  /**
   * Probability of exploitation within 30 days (FIRST).
   */
  epss: number | null;
  /**
   * In CISA's catalogue.
   */
  known_exploited: boolean;
  /**
   * act: exploited or EPSS from 0.5; attend: EPSS from 0.1 or critical; else track.
   */
  priority: 'act' | 'attend' | 'track';
  published: string;
  title: string | null;
  products: {
    product: string;
    product_id: string;
  }[];
  match: Match;
  domains: {
    /**
     * Domains that show an affected version.
     */
    version: number;
    /**
     * Further domains that use the product; whether they are affected is not known.
     */
    product: number;
  };
}
/**
 * RFC 9457 problem details.
 */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code:
    | 'missing_key'
    | 'invalid_key'
    | 'invalid_domain'
    | 'invalid_parameter'
    | 'foreign_page'
    | 'unknown_domain'
    | 'unknown_provider'
    | 'not_found'
    | 'method_not_allowed'
    | 'payload_too_large'
    | 'uri_too_long'
    | 'unsupported_media_type'
    | 'misdirected_request'
    | 'quota_exceeded'
    | 'header_too_large'
    | 'internal_error'
    | 'unavailable';
  /**
   * Present with a valid key; otherwise only in the header `X-Request-Id`, like everything that differs by request.
   */
  request_id?: string;
  errors?: {
    field: string;
    message: string;
  }[];
  _alpha: true;
  _notice: string;
  provenance: Provenance;
}
/**
 * Each path that is asked by POST, and the body of its whole answer.
 */
export interface StackPosts {
  /**
   * Get a free API key
   */
  '/keys': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      /**
       * Send it in the header X-Stack-Key.
       */
      key: string;
      key_id: string;
      tier: string;
      daily_limit: number | null;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
}
/**
 * The paths that answer with a stream without an end.
 */
export interface StackStreams {
  /**
   * SSE: migrations, anomalies and service changes
   */
  '/stack/v1/stream': {
    path: Record<string, never>;
    query: {
      /**
       * Only these, separated by commas: migration, anomaly, service_change, advisory.
       */
      types?: string;
      /**
       * Only events of this domain.
       */
      domain?: string;
      /**
       * Only events of this provider: id, name or alias.
       */
      provider?: string;
      category?:
        | 'dns'
        | 'email'
        | 'email_security'
        | 'email_sending'
        | 'hosting'
        | 'cdn'
        | 'security'
        | 'verified_service'
        | 'certificate_authority'
        | 'web_platform';
    };
    body: string;
  };
}
