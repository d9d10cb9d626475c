// Generated from openapi/stack.json by write-types.ts: `npm run openapi` rewrites it. Do not edit.

/**
 * Each GET path: its path and query parameters, and the body of its answer.
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
   * Requests of your key by day and path
   */
  '/stack/v1/usage': {
    path: Record<string, never>;
    query: {
      /**
       * UTC days, including today.
       */
      days?: number;
    };
    body: {
      key_id: string;
      tier: string;
      daily_limit: number | null;
      /**
       * Days with requests, newest first.
       */
      days: {
        date: string;
        requests: number;
        /**
         * Requests that used the daily quota.
         */
        counted: number;
        paths: {
          path: string;
          source: 'page' | 'api';
          requests: number;
          /**
           * Requests that used the daily quota.
           */
          counted: number;
        }[];
      }[];
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
       * Source of the sector: the operator's list, the suffix, or the home page.
       */
      sector_source: ('list' | 'suffix' | 'page') | null;
      /**
       * ISO 3166 codes; `country:` in a query means either.
       */
      country: {
        /**
         * Of the top-level domain: `DE` for `de`.
         */
        tld: string | null;
        /**
         * Of the network of the site's address, as its registry gives it; its servers may be in another country.
         */
        network: string | null;
      };
      services: Service[];
      security: Security;
      /**
       * Measurement status of each role in the last scan that measured it.
       */
      roles: {
        [k: string]: Measurement;
      };
      /**
       * Roles that the last scan could not measure, and when an earlier one did.
       */
      stale_roles: {
        role: string;
        measured_at: string;
      }[];
      redirects_to: string | null;
      advisories: OpenAdvisories;
      /**
       * Version of the rulebook that evaluated the evidence.
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
      category?: Category;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      offset?: number;
    };
    body: {
      domain: string;
      total: number;
      /**
       * Number of changes for every category with changes, regardless of the filter.
       */
      by_category: {
        category: Category;
        changes: number;
      }[];
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      changes: Change[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Observed records of the domain, now or on a date
   */
  '/stack/v1/domains/{domain}/records': {
    path: {
      /**
       * A domain or any host below it, in Unicode or as A-labels.
       */
      domain: string;
    };
    query: {
      /**
       * The records of this moment; a date is its last one. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      at?: string;
    };
    body: {
      domain: string;
      at: string | null;
      /**
       * The first observation of any record.
       */
      observed_since: string | null;
      /**
       * Kinds that no scan had measured by then: their values are unknown, not absent.
       */
      unmeasured: Unmeasured[];
      total: number;
      records: {
        kind: Unmeasured;
        value: string;
        /**
         * First observation.
         */
        first_seen: string;
        /**
         * Last observation; earlier than the last scan if a look-up failed since, or the value has ended.
         */
        last_seen: string;
        /**
         * The first successful look-up without the value; null while present.
         */
        ended_at: string | null;
        /**
         * Counted up to the bound from which a value is `shared`.
         */
        other_domains: number;
        /**
         * Of so many domains that it says little about the owner; also the names of a certificate for more than 10 registrable domains.
         */
        shared: boolean;
      }[];
      /**
       * At most 20, those first whose values show most about an owner.
       */
      related: {
        domain: string;
        shared_values: number;
        /**
         * Those that show most, at most 10.
         */
        values: {
          kind: Unmeasured;
          value: string;
        }[];
      }[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Changes of the observed records of the domain
   */
  '/stack/v1/domains/{domain}/history': {
    path: {
      /**
       * A domain or any host below it, in Unicode or as A-labels.
       */
      domain: string;
    };
    query: {
      kind?: Unmeasured;
      /**
       * Only the last UTC days, including today.
       */
      days?: number;
      /**
       * Only the last hours up to now; takes precedence over `days`.
       */
      hours?: number;
      /**
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      /**
       * The end of the window, by default now; a date is included. Needs `since`. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      until?: string;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      domain: string;
      observed_since: string | null;
      /**
       * Kinds that no scan had measured until then: what they had before is unknown, not a change. Null: still.
       */
      unmeasured: {
        kind: Unmeasured;
        until: string | null;
      }[];
      /**
       * Scans that could not measure some sources, newest first, at most 20; `resolved` is false if nothing answered. They end no value.
       */
      incomplete_scans: {
        at: string;
        resolved: boolean;
        unmeasured: (
          | 'ns'
          | 'soa'
          | 'mx'
          | 'spf'
          | 'txt'
          | 'dmarc'
          | 'caa'
          | 'cname'
          | 'asn'
          | 'header'
          | 'cookie'
          | 'html'
          | 'tls'
        )[];
      }[];
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      changes: {
        at: string;
        type: 'appeared' | 'disappeared';
        kind: Unmeasured;
        value: string;
        /**
         * First observation.
         */
        first_seen: string;
        /**
         * Last observation; earlier than the last scan if a look-up failed since, or the value has ended.
         */
        last_seen: string;
        /**
         * The first successful look-up without the value; null while present.
         */
        ended_at: string | null;
      }[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Domains that share a value
   */
  '/stack/v1/pivot/{kind}/{value}': {
    path: {
      kind: Unmeasured;
      /**
       * The value, percent-encoded: `ns1.example.com`, `GTM-ABC123`, `192.0.2.0%2F24`, `AS64496`.
       */
      value: string;
    };
    query: {
      /**
       * `present`: domains that publish the value now. `past`: intervals that have ended, the last first.
       */
      status?: 'present' | 'past';
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      kind: string;
      /**
       * As stored: lower-case hosts, at most 255 characters.
       */
      value: string;
      /**
       * Domains that publish the value now; counting stops at 10000.
       */
      total: number;
      /**
       * Domains that publish it or did, as far as history is kept; null above 10000 intervals.
       */
      total_ever: number | null;
      /**
       * Whether `total` is a lower bound.
       */
      more_than_counted: boolean;
      shared: boolean;
      shared_reason: string | null;
      status: 'present' | 'past';
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      domains: {
        domain: string;
        /**
         * First observation.
         */
        first_seen: string;
        /**
         * Last observation; earlier than the last scan if a look-up failed since, or the value has ended.
         */
        last_seen: string;
        /**
         * The first successful look-up without the value; null while present.
         */
        ended_at: string | null;
      }[];
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
      /**
       * Any part of the domain name, in Unicode or as A-labels; or up to eight parts, separated by blanks, in any order.
       */
      q?: string;
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      category?: Category;
      role?: Role;
      /**
       * Confidence of the service that matches `provider`, `category` and `role`, or of any service.
       */
      confidence?: 'high' | 'medium' | 'low';
      /**
       * Minimum confidence: market shares count services of `medium` confidence and more.
       */
      min_confidence?: 'high' | 'medium' | 'low';
      /**
       * An additional provider of the domain, by id, name or alias.
       */
      with?: string;
      sector?: Sector;
      state?: State;
      /**
       * Required flags of the security posture, separated by commas: `dmarc_reject`, `spf_valid,dmarc_valid`.
       */
      flag?: string;
      /**
       * Excluded flags: `flag=dnssec_measured&without=dnssec`.
       */
      without?: string;
      /**
       * Grade of the security score.
       */
      grade?: 'a+' | 'a' | 'b' | 'c' | 'd' | 'f';
      /**
       * Minimum security score; excludes domains without a score.
       */
      score_gte?: number;
      /**
       * Maximum security score.
       */
      score_lte?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
      /**
       * `-` is descending. Domains without the value come last; equal ones are in the order of names. By name, names that begin with `q` come first.
       */
      sort?:
        | 'name'
        | 'score'
        | '-score'
        | 'scanned_at'
        | '-scanned_at'
        | 'first_seen'
        | '-first_seen'
        | 'changed_at'
        | '-changed_at';
      /**
       * Counts of all results by these values, separated by commas.
       */
      facets?: string;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      offset?: number;
    };
    body: {
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      results: FoundDomain[];
      /**
       * If `facets` are requested.
       */
      facets?: Facet[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Segments of the key
   */
  '/stack/v1/segments': {
    path: Record<string, never>;
    query: {
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      segments: Segment[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * A segment
   */
  '/stack/v1/segments/{name}': {
    path: {
      name: string;
    };
    query: Record<string, never>;
    body: {
      segment: Segment;
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
    query: {
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
    };
    body: {
      /**
       * Domains that a scan has measured: without those whose name servers have never answered.
       */
      domains: number;
      domains_by_state: {
        [k: string]: number;
      };
      /**
       * Services of all domains with any confidence.
       */
      services: number;
      /**
       * Providers with at least one domain.
       */
      providers: number;
      /**
       * Migrations by time of confirmation.
       */
      migrations: {
        last_24h: number;
        last_7d: number;
        last_30d: number;
      };
      by_category: {
        category: Category;
        domains: number;
        providers: number;
      }[];
      /**
       * Null with `query`.
       */
      scans: number | null;
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
    query: {
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
    };
    body: {
      /**
       * Providers with at least one domain.
       */
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      providers: {
        rank: number;
        provider: string;
        provider_id: string;
        categories: Category[];
        domains: number;
        /**
         * Share of all scanned domains, or of those of the query.
         */
        share: number;
        /**
         * Domains gained minus domains lost, confirmed within 30 days; excludes first scans and rulebook changes. Null with `query`.
         */
        change_30d: number | null;
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
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      offset?: number;
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      /**
       * To the provider, or away from it; has no effect without a provider.
       */
      direction?: 'in' | 'out';
      /**
       * The provider at the other end, by id, name or alias; only together with `provider`.
       */
      other?: string;
      category?: Category;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
      /**
       * Only the last UTC days, including today.
       */
      days?: number;
      /**
       * Only the last hours up to now; takes precedence over `days`.
       */
      hours?: number;
      /**
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      /**
       * The end of the window, by default now; a date is included. Needs `since`. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      until?: string;
    };
    body: {
      /**
       * Matching migrations, confirmed within the window, or within 30 days without one.
       */
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      /**
       * Whether there are more after this page.
       */
      has_more: boolean;
      /**
       * Window of `total` and `flows`; a fraction if it is not of complete days.
       */
      window_days: number;
      migrations: Migration[];
      /**
       * Sums by previous and new provider, most domains first; at most 100, or 1000 for one provider.
       */
      flows: Flow[];
      /**
       * Total number of flows.
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
      /**
       * Only the last UTC days, including today.
       */
      days?: number;
      /**
       * Only the last hours up to now; takes precedence over `days`.
       */
      hours?: number;
      /**
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      /**
       * The end of the window, by default now; a date is included. Needs `since`. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      until?: string;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
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
      /**
       * Only the last UTC days, including today.
       */
      days?: number;
      /**
       * Only the last hours up to now; takes precedence over `days`.
       */
      hours?: number;
      /**
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      /**
       * The end of the window, by default now; a date is included. Needs `since`. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      until?: string;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
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
    query: {
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
    };
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
        grade: Grade;
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
      category?: Category;
      role?: Role;
      include_parked?: 'true' | 'false';
      /**
       * Providers of a market, by default 1,000 of one category or role and 25 of each of all.
       */
      limit?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
    };
    body: {
      include_parked: boolean;
      method: string;
      categories: Market[];
      /**
       * The providers that compete: of one role each.
       */
      roles: RoleMarket[];
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
       * Id, name or alias of a provider, case-insensitive: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: {
      /**
       * Entries of `upstream` and of `downstream`.
       */
      limit?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
    };
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
      share_by_role: {
        [k: string]: number;
      };
      hhi_by_role: {
        [k: string]: number | null;
      };
      /**
       * Domains with a role in which it is the only provider of high or medium confidence.
       */
      sole_source_domains: number;
      /**
       * Providers that its domains use in addition; share of its domains.
       */
      upstream: {
        provider: string;
        provider_id: string;
        domains: number;
        share: number;
      }[];
      /**
       * Providers whose domains use it in addition; share of their domains.
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
       * Id, name or alias of a provider, case-insensitive.
       */
      tool: string;
    };
    query: {
      /**
       * Entries of `co_adoption`.
       */
      limit?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
    };
    body: {
      tool: string;
      provider_id: string;
      domains: number;
      share: number;
      method: string;
      /**
       * The last 365 days; with `query` not before the last 10000 domains that the tool gained or lost.
       */
      curve: {
        date: string;
        domains: number;
        added: number;
        removed: number;
        /**
         * Whether there were scans on this day; if not, the numbers are those of the previous day.
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
   * Two segments compared: market shares by category and by role, and scores
   */
  '/stack/v1/intelligence/comparison': {
    path: Record<string, never>;
    query: {
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      a: string;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      b: string;
      category?: Category;
      role?: Role;
      /**
       * Providers of a market.
       */
      limit?: number;
    };
    body: {
      a: ComparedDomains;
      b: ComparedDomains;
      /**
       * Domains in both.
       */
      common: number;
      categories: ComparedMarkets[];
      /**
       * The providers that compete: of one role each.
       */
      roles: ComparedRole[];
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
        /**
         * Parts that the last scan could not measure, and when an earlier one did. The score uses them.
         */
        stale_parts: {
          part: Part;
          measured_at: string;
        }[];
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
         * Known vulnerabilities of all products.
         */
        total: number;
        /**
         * Vulnerabilities of products in the rulebook.
         */
        of_known_products: number;
        known_exploited: number;
        /**
         * Vulnerabilities with an EPSS score.
         */
        scored: number;
        /**
         * Records by publisher of their ranges.
         */
        records: {
          [k: string]: number;
        };
      };
      coverage: {
        providers: {
          total: number;
          /**
           * Providers that are products with names known to publishers; the remaining ones are services.
           */
          products: number;
          /**
           * Products that at least one domain shows.
           */
          in_use: number;
        };
        domains: {
          total: number;
          /**
           * Domains that show a product with possible advisories.
           */
          with_product: number;
          /**
           * Domains that also show its version.
           */
          with_version: number;
        };
      };
      /**
       * The catalog of providers that evaluates evidence.
       */
      catalog: {
        /**
         * Version of the rulebook: the catalog with the additions of the operator.
         */
        version: string;
        /**
         * Of the release; of the bundled catalog, the newest date of verification.
         */
        date: string;
        /**
         * `bundled`, or the name of the key that signed the release.
         */
        source: string;
      };
      /**
       * The nightly dump, if one is configured.
       */
      dump: {
        written_at: string | null;
        /**
         * Of the last attempt, if it failed: the log says why.
         */
        failed_at: string | null;
      };
      /**
       * The list that decides which names are registrable.
       */
      public_suffix_list: {
        source: string;
        /**
         * Release of the package that has the list.
         */
        date: string;
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
       * Only advisories that are, or are not, in CISA's catalogue.
       */
      known_exploited?: 'true' | 'false';
      /**
       * Only this advisory: a CVE or GHSA id, case-insensitive.
       */
      advisory?: string;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      offset?: number;
    };
    body: {
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
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
       * Only rows with this match.
       */
      match?: 'version' | 'product';
      /**
       * Only advisories that are, or are not, in CISA's catalogue.
       */
      known_exploited?: 'true' | 'false';
      /**
       * Only this advisory: a CVE or GHSA id, case-insensitive.
       */
      advisory?: string;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      offset?: number;
    };
    body: {
      /**
       * Matching rows.
       */
      total: number;
      /**
       * Domains in these rows; one with both kinds is counted in version.
       */
      domains: {
        version: number;
        product: number;
      };
      /**
       * Possible reasons for an empty list; null for filters that were not used.
       */
      known: {
        /**
         * Whether a source has been synced completely.
         */
        advisories: boolean;
        /**
         * Whether the requested advisory is for a product in the rulebook.
         */
        advisory: boolean | null;
        /**
         * Whether the requested domain has been scanned.
         */
        domain: boolean | null;
      };
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
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
       * Active feeds that were polled at least once.
       */
      polled: number;
      /**
       * Active feeds whose last poll failed.
       */
      failing: number;
      /**
       * Retained items.
       */
      items: number;
      /**
       * Mentions of domains in these items.
       */
      mentions: number;
      /**
       * Domains mentioned within the last 30 days.
       */
      domains: number;
      /**
       * Mentions on each of the last 30 UTC days, including today.
       */
      per_day: MentionDay[];
      /**
       * The top ten of the last seven days.
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
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      window?: '1d' | '7d' | '30d';
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
    };
    body: {
      window: '1d' | '7d' | '30d';
      /**
       * Domains mentioned within the window.
       */
      total: number;
      /**
       * Mentions of all domains.
       */
      mentions: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
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
    query: {
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      domain: string;
      /**
       * In all retained items.
       */
      mentions: number;
      first_seen: string | null;
      last_seen: string | null;
      windows: MentionWindow[];
      /**
       * The last 30 UTC days, including today.
       */
      per_day: MentionDay[];
      /**
       * Feeds that mention it.
       */
      total: number;
      /**
       * Feeds with the most mentions first.
       */
      feeds: NamingFeed[];
      /**
       * Its services, if it has been scanned.
       */
      scanned: {
        scanned_at: string;
        state: 'active' | 'parked' | 'nonexistent' | 'unmeasured';
        sector: string;
        services: Service[];
        score: number | null;
        grade: Grade | null;
      } | null;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
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
      sector?: Sector;
      /**
       * Maximum score.
       */
      score_lte?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
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
       * To the provider, or away from it; has no effect without a provider.
       */
      direction?: 'in' | 'out';
      /**
       * The provider at the other end, by id, name or alias; only together with `provider`.
       */
      other?: string;
      category?: Category;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
      /**
       * Only the last UTC days, including today.
       */
      days?: number;
      /**
       * Only the last hours up to now; takes precedence over `days`.
       */
      hours?: number;
      /**
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      /**
       * The end of the window, by default now; a date is included. Needs `since`. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      until?: string;
    };
    body: string;
  };
  /**
   * Domains using a provider as CSV, at most 1000 rows
   */
  '/stack/v1/providers/{provider}/domains.csv': {
    path: {
      /**
       * Id, name or alias of a provider, case-insensitive: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: {
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
    };
    body: string;
  };
  /**
   * Domains that a provider gained or lost as CSV, at most 1000 rows
   */
  '/stack/v1/providers/{provider}/customers.csv': {
    path: {
      /**
       * Id, name or alias of a provider, case-insensitive: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: {
      /**
       * `in`: gained; `out`: lost.
       */
      direction?: 'in' | 'out';
      /**
       * Only the last UTC days, including today.
       */
      days?: number;
      /**
       * Only the last hours up to now; takes precedence over `days`.
       */
      hours?: number;
      /**
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      /**
       * The end of the window, by default now; a date is included. Needs `since`. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      until?: string;
    };
    body: string;
  };
  /**
   * The jobs of the key, newest first
   */
  '/stack/v1/jobs': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      total: number;
      jobs: Job[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * State and progress of a job
   */
  '/stack/v1/jobs/{id}': {
    path: {
      /**
       * Id of a job: `job_…`.
       */
      id: string;
    };
    query: {
      /**
       * Seconds to wait for the end of the job.
       */
      wait?: number;
    };
    body: {
      job: Job;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Provider detail, its domains and market context
   */
  '/stack/v1/providers/{provider}': {
    path: {
      /**
       * Id, name or alias of a provider, case-insensitive: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: {
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      offset?: number;
    };
    body: {
      provider: string;
      provider_id: string;
      owner: string;
      aliases: string[];
      website: string | null;
      /**
       * Kinds of the provider, most characteristic first.
       */
      kinds: Kind[];
      /**
       * Categories in which domains use it.
       */
      categories: Category[];
      domains: {
        total: number;
        limit: number;
        /**
         * Number of entries before this page.
         */
        offset: number;
        /**
         * `cursor` of the next page; null at the end of the list.
         */
        next_cursor: string | null;
        /**
         * In alphabetical order.
         */
        results: FoundDomain[];
      };
      market: {
        /**
         * Rank among all providers by number of domains; null without domains.
         */
        rank: number | null;
        /**
         * Share of all scanned domains.
         */
        share: number;
        change_30d: number;
        by_category: {
          category: Category;
          domains: number;
          share: number;
          rank: number;
          providers: number;
          hhi: number | null;
          band: string;
        }[];
        /**
         * Among the providers of the same role.
         */
        by_role: {
          role: Role;
          category: Category;
          domains: number;
          share: number;
          rank: number;
          providers: number;
          hhi: number | null;
          band: string;
        }[];
      };
      /**
       * Domains that started to use it, confirmed within 30 days.
       */
      gained_30d: number;
      /**
       * Domains that stopped using it completely, confirmed within 30 days.
       */
      lost_30d: number;
      /**
       * Migrations of single services to it and away from it: a domain that moves two services counts twice.
       */
      moves_30d: {
        in: number;
        out: number;
      };
      /**
       * The flows of these migrations, most domains first; at most 50.
       */
      flows_30d: Flow[];
      /**
       * Its entry in the catalog; null if it was removed from it.
       */
      catalog: CatalogEntry | null;
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
       * Id, name or alias of a provider, case-insensitive: `google-workspace`, `Google Workspace`.
       */
      provider: string;
    };
    query: {
      /**
       * `in`: gained; `out`: lost.
       */
      direction?: 'in' | 'out';
      /**
       * Only the last UTC days, including today.
       */
      days?: number;
      /**
       * Only the last hours up to now; takes precedence over `days`.
       */
      hours?: number;
      /**
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      /**
       * The end of the window, by default now; a date is included. Needs `since`. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      until?: string;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      offset?: number;
    };
    body: {
      provider: string;
      provider_id: string;
      direction: 'in' | 'out';
      /**
       * Length of the window; a fraction if it is not of complete days.
       */
      days: number;
      /**
       * The first day of the window.
       */
      since: string;
      /**
       * Domains gained or lost within the window.
       */
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
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
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
      /**
       * Only these types, separated by commas: migration, anomaly, service_change, advisory.
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
      category?: Category;
      /**
       * Only events of the domains that this watchlist has at the beginning.
       */
      watchlist?: string;
    };
    body: {
      events: (MigrationEvent | ServiceChangeEvent | AnomalyEvent | AdvisoryEvent)[];
      next_since: string;
      has_more: boolean;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
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
   * Watchlists of the key
   */
  '/stack/v1/watchlists': {
    path: Record<string, never>;
    query: {
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      watchlists: Watchlist[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * A watchlist with its domains
   */
  '/stack/v1/watchlists/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: {
      watchlist: WatchlistWithDomains;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * What the rules of a watchlist reported
   */
  '/stack/v1/watchlists/{id}/notifications': {
    path: {
      id: string;
    };
    query: {
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      notifications: WatchNotification[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Messages to the channels of a watchlist
   */
  '/stack/v1/watchlists/{id}/deliveries': {
    path: {
      id: string;
    };
    query: {
      state?: 'pending' | 'delivered' | 'dead';
      limit?: number;
      /**
       * `next_cursor` of the previous page, with the same filters; `limit` may differ.
       */
      cursor?: string;
    };
    body: {
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      deliveries: WatchDelivery[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Ask the owner of an e-mail address
   */
  '/email/{action}': {
    path: {
      action: 'confirm' | 'unsubscribe';
    };
    query: {
      token: string;
    };
    body: string;
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
 * Number of domains with the standard, and of domains in which it could be measured.
 */
export interface Adoption {
  domains: number;
  measured: number;
  share: number | null;
}
export interface Advisory {
  /**
   * CVE id if there is one, else the id of GHSA or OSV.
   */
  id: string;
  severity: AdvisorySeverity | null;
  cvss: number | null;
  /**
   * Probability of exploitation within 30 days (FIRST).
   */
  epss: number | null;
  /**
   * Listed in CISA's catalogue.
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
     * Further domains that use the product; whether they are affected is unknown.
     */
    product: number;
  };
  products: {
    product: string;
    product_id: string;
    /**
     * As published by `range_source`; null if not published.
     */
    version_range: string | null;
    range_source: ('nvd' | 'cna' | 'ghsa' | 'osv') | null;
    domains: {
      /**
       * Domains that show an affected version.
       */
      version: number;
      /**
       * Further domains that use the product; whether they are affected is unknown.
       */
      product: number;
    };
  }[];
  /**
   * At most 10 domains that show an affected version; `/enrichment/affected` lists all.
   */
  affected: string[];
  references: string[];
}
export interface AdvisoryEvent {
  _alpha: true;
  _notice: string;
  id: string;
  /**
   * Time of confirmation.
   */
  at: string;
  /**
   * Time of publication in microseconds; unique for each event.
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
   * published: a new advisory; exploited: it is known to be exploited; exposed: a scan of `domain` shows affected versions.
   */
  reason: 'published' | 'exploited' | 'exposed';
  advisories: AdvisoryNews[];
}
export interface AdvisoryNews {
  /**
   * CVE id if there is one, else the id of GHSA or OSV.
   */
  id: string;
  severity: AdvisorySeverity | null;
  cvss: number | null;
  /**
   * Probability of exploitation within 30 days (FIRST).
   */
  epss: number | null;
  /**
   * Listed in CISA's catalogue.
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
  /**
   * Null if `domains` is.
   */
  match: Match | null;
  /**
   * When the event was announced; null if a version of Strata that did not record it did so.
   */
  domains: {
    /**
     * Domains that show an affected version.
     */
    version: number;
    /**
     * Further domains that use the product; whether they are affected is unknown.
     */
    product: number;
  } | null;
}
/**
 * Bands of the CVSS score (FIRST).
 */
export type AdvisorySeverity = 'low' | 'medium' | 'high' | 'critical';
export interface AdvisorySource {
  source: string;
  /**
   * complete: the last sync was complete. interrupted: it was stopped; the next one resumes it.
   */
  state: 'never' | 'syncing' | 'complete' | 'failed' | 'interrupted' | 'off';
  /**
   * End of the last complete sync.
   */
  last_sync: string | null;
  started: string | null;
  next_sync: string | null;
  /**
   * Stored records of the source.
   */
  records: number;
  /**
   * Records read by the current sync, or the last one that found any.
   */
  read: number;
  /**
   * Unreadable records among those read.
   */
  skipped: number;
  skipped_example: string | null;
  error: string | null;
}
export interface Affected {
  /**
   * CVE id if there is one, else the id of GHSA or OSV.
   */
  id: string;
  severity: AdvisorySeverity | null;
  cvss: number | null;
  /**
   * Probability of exploitation within 30 days (FIRST).
   */
  epss: number | null;
  /**
   * Listed in CISA's catalogue.
   */
  known_exploited: boolean;
  /**
   * act: exploited or EPSS from 0.5; attend: EPSS from 0.1 or critical; else track.
   */
  priority: 'act' | 'attend' | 'track';
  published: string;
  title: string | null;
  match: Match;
  reason: Reason;
  product: string;
  product_id: string;
  /**
   * As published by `range_source`; null if not published.
   */
  version_range: string | null;
  range_source: ('nvd' | 'cna' | 'ghsa' | 'osv') | null;
  /**
   * As shown by the domain.
   */
  version: string | null;
  platform: string | null;
  domain: string;
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
   * Path of the underlying data.
   */
  ref: string;
}
export interface Anomaly {
  id: string;
  /**
   * End of the anomalous day; for a domain the time of the scan.
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
   * Standard deviation, with the value of a Poisson process as its minimum.
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
   * Days of the window with data.
   */
  samples: number;
  /**
   * Probability of such a day by chance.
   */
  chance: number;
}
export interface AnomalyEvent {
  _alpha: true;
  _notice: string;
  id: string;
  /**
   * Time of confirmation.
   */
  at: string;
  /**
   * Time of publication in microseconds; unique for each event.
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
export interface CatalogEntry {
  /**
   * The file of the catalog that has the entry; null for one of a community set.
   */
  file: string | null;
  rules: {
    category: Category;
    role: Role | null;
    patterns: {
      /**
       * Where a domain shows it: `mx`, `spf`, `named` …
       */
      evidence: string;
      pattern: string;
    }[];
    /**
     * The document of the vendor.
     */
    source: string | null;
    /**
     * The day of the last comparison with the source.
     */
    verified_at: string | null;
    /**
     * Records that show the provider, as `strata stack explain` reads them.
     */
    examples: {
      [k: string]: unknown;
    }[];
    /**
     * Similar records that do not.
     */
    counterexamples: {
      [k: string]: unknown;
    }[];
  }[];
}
export interface Change {
  id: string;
  /**
   * Time of the first observation.
   */
  at: string;
  /**
   * Time of the second, confirming observation.
   */
  confirmed_at: string;
  category: Category;
  role: Role;
  type: 'added' | 'removed' | 'migrated' | 'reclassified';
  from: string | null;
  to: string | null;
  from_id: string | null;
  to_id: string | null;
  confidence: 'high' | 'medium' | 'low';
  importance: 'high' | 'medium' | 'low';
}
export interface ComparedDomains {
  domains: number;
  scored: number;
  mean_score: number | null;
  grades: {
    grade: Grade;
    domains: number;
  }[];
}
export interface ComparedMarket {
  domains: number;
  /**
   * Base of the shares.
   */
  denominator: number;
  hhi: number | null;
}
export interface ComparedMarkets {
  category: Category;
  a: ComparedMarket;
  b: ComparedMarket;
  /**
   * Providers in either.
   */
  total: number;
  /**
   * Largest difference first.
   */
  providers: {
    provider: string;
    provider_id: string;
    a: ComparedShare;
    b: ComparedShare;
    /**
     * Share in b minus share in a.
     */
    difference: number | null;
  }[];
}
export interface ComparedRole {
  category: Category;
  a: ComparedMarket;
  b: ComparedMarket;
  /**
   * Providers in either.
   */
  total: number;
  /**
   * Largest difference first.
   */
  providers: {
    provider: string;
    provider_id: string;
    a: ComparedShare;
    b: ComparedShare;
    /**
     * Share in b minus share in a.
     */
    difference: number | null;
  }[];
  role: Role;
  label: string;
}
export interface ComparedShare {
  domains: number;
  /**
   * Of `denominator`; a domain with k firm providers gives 1/k to each.
   */
  share: number | null;
}
/**
 * The change that gained or lost the domain.
 */
export interface Customer {
  id: string;
  /**
   * Time of the first observation.
   */
  at: string;
  /**
   * Time of the second, confirming observation.
   */
  confirmed_at: string;
  category: Category;
  role: Role;
  type: 'added' | 'removed' | 'migrated' | 'reclassified';
  from: string | null;
  to: string | null;
  from_id: string | null;
  to_id: string | null;
  confidence: 'high' | 'medium' | 'low';
  importance: 'high' | 'medium' | 'low';
  domain: string;
  /**
   * The new or previous provider of each service; empty if unknown.
   */
  moves: {
    category: Category;
    provider: string;
    provider_id: string;
  }[];
}
export interface Exposure {
  /**
   * CVE id if there is one, else the id of GHSA or OSV.
   */
  id: string;
  severity: AdvisorySeverity | null;
  cvss: number | null;
  /**
   * Probability of exploitation within 30 days (FIRST).
   */
  epss: number | null;
  /**
   * Listed in CISA's catalogue.
   */
  known_exploited: boolean;
  /**
   * act: exploited or EPSS from 0.5; attend: EPSS from 0.1 or critical; else track.
   */
  priority: 'act' | 'attend' | 'track';
  published: string;
  title: string | null;
  match: Match;
  reason: Reason;
  product: string;
  product_id: string;
  /**
   * As published by `range_source`; null if not published.
   */
  version_range: string | null;
  range_source: ('nvd' | 'cna' | 'ghsa' | 'osv') | null;
  /**
   * As shown by the domain.
   */
  version: string | null;
  platform: string | null;
}
export interface Facet {
  facet: string;
  /**
   * Most domains first, at most 20.
   */
  values: {
    /**
     * Of a provider its id.
     */
    value: string;
    name: string;
    domains: number;
    /**
     * The condition of the query language for this value.
     */
    query: string;
  }[];
}
export interface FeedLeader {
  /**
   * Equal counts share a rank: 1, 2, 2, 4.
   */
  rank: number;
  domain: string;
  mentions: number;
  /**
   * Feeds that mentioned it within the window.
   */
  feeds: number;
  /**
   * Rank in the previous window; null if not mentioned in it.
   */
  previous_rank: number | null;
  /**
   * Ranks gained since the previous window; null without a previous rank.
   */
  movement: number | null;
  /**
   * Share of all mentions within the window.
   */
  share: number;
  /**
   * Whether it has been scanned, or waits for its first scan.
   */
  tracked: boolean;
  /**
   * Security score of the latest scan.
   */
  score: number | null;
  grade: Grade | null;
}
export interface Flow {
  category: Category;
  from: string;
  from_id: string;
  to: string;
  to_id: string;
  domains: number;
}
export interface FoundDomain {
  domain: string;
  scanned_at: string;
  /**
   * The first scan that measured it; to the second.
   */
  first_seen: string;
  /**
   * Confirmation of its last change of services; null: none. Reclassifications are not counted.
   */
  changed_at: string | null;
  state: 'active' | 'parked' | 'nonexistent' | 'unmeasured';
  sector: string;
  score: number | null;
  services: {
    category: Category;
    role: Role;
    provider: string;
    provider_id: string;
    confidence: 'high' | 'medium' | 'low';
  }[];
}
export interface Job {
  id: string;
  state: 'queued' | 'running' | 'complete' | 'failed';
  /**
   * The exported table, or `lookup`.
   */
  table: string;
  format: 'csv' | 'ndjson' | 'parquet';
  created_at: string;
  ended_at: string | null;
  /**
   * When an ended job and its file are removed at the latest.
   */
  expires_at: string | null;
  /**
   * Rows written so far.
   */
  rows: number;
  /**
   * Requests of the quota that the first fetch of the file costs; null until complete.
   */
  cost: number | null;
  /**
   * Whether the file costs nothing more.
   */
  is_paid: boolean;
  size_bytes: number | null;
  /**
   * Of the complete file, in hex.
   */
  sha256: string | null;
  /**
   * Path of the complete file.
   */
  file: string | null;
  /**
   * Why a failed job has no file.
   */
  error: {
    code: string;
    detail: string;
  } | null;
}
export interface LookupRow {
  /**
   * As given, also a URL or an e-mail address; at most 253 characters of it.
   */
  domain?: string;
  /**
   * Registrable domain, as A-labels.
   */
  registrable?: string | null;
  /**
   * Why this is not a domain.
   */
  error?: string | null;
  /**
   * active, parked, nonexistent, unmeasured, unknown (never scanned) or invalid.
   */
  state?: string | null;
  /**
   * ISO 8601 UTC.
   */
  scanned_at?: string | null;
  /**
   * unknown, computer_it, media, finance_insurance, education_research, service, agriculture_mining, community_nonprofit, construction_real_estate, museums_libraries_entertainment, utilities, health, travel, freight_postal, government, retail_ecommerce, manufacturing, other
   */
  sector?: string | null;
  /**
   * Security score, 0 to 100.
   */
  score?: number | null;
  /**
   * A+ to F.
   */
  grade?: string | null;
  /**
   * Ids of the providers in the role dns with high or medium confidence, separated by semicolons.
   */
  dns?: string | null;
  /**
   * Ids of the providers in the role mailbox with high or medium confidence, separated by semicolons.
   */
  mailbox?: string | null;
  /**
   * Ids of the providers in the role gateway with high or medium confidence, separated by semicolons.
   */
  gateway?: string | null;
  /**
   * Ids of the providers in the role sender with high or medium confidence, separated by semicolons.
   */
  sender?: string | null;
  /**
   * Ids of the providers in the role origin with high or medium confidence, separated by semicolons.
   */
  origin?: string | null;
  /**
   * Ids of the providers in the role edge with high or medium confidence, separated by semicolons.
   */
  edge?: string | null;
  /**
   * Ids of the providers in the role protection with high or medium confidence, separated by semicolons.
   */
  protection?: string | null;
  /**
   * Ids of the providers in the role verified with high or medium confidence, separated by semicolons.
   */
  verified?: string | null;
  /**
   * Ids of the providers in the role issuer with high or medium confidence, separated by semicolons.
   */
  issuer?: string | null;
  /**
   * Ids of the providers in the role platform with high or medium confidence, separated by semicolons.
   */
  platform?: string | null;
  /**
   * Result that the record requests (RFC 7208): fail (-all), softfail (~all), neutral (?all), pass (+all), valid (no all), permerror or none.
   */
  spf?: string | null;
  /**
   * Published policy: reject, quarantine, none (the policy) or missing.
   */
  dmarc?: string | null;
  /**
   * The policy after t=y is applied.
   */
  dmarc_effective?: string | null;
  /**
   * yes or no.
   */
  dmarc_reporting?: string | null;
  /**
   * yes or no.
   */
  mta_sts?: string | null;
  /**
   * yes or no.
   */
  tls_rpt?: string | null;
  /**
   * yes or no.
   */
  dnssec?: string | null;
  /**
   * yes or no.
   */
  caa?: string | null;
  /**
   * yes or no.
   */
  bimi?: string | null;
  /**
   * yes or no.
   */
  tls_trusted?: string | null;
  /**
   * Ids of the providers in the role forwarding with high or medium confidence, separated by semicolons.
   */
  forwarding?: string | null;
  /**
   * Ids of the providers in the role dmarc_reports with high or medium confidence, separated by semicolons.
   */
  dmarc_reports?: string | null;
  /**
   * Ids of the providers in the role waf with high or medium confidence, separated by semicolons.
   */
  waf?: string | null;
  /**
   * Ids of the providers in the role bot_protection with high or medium confidence, separated by semicolons.
   */
  bot_protection?: string | null;
  /**
   * Ids of the providers in the role site_builder with high or medium confidence, separated by semicolons.
   */
  site_builder?: string | null;
  /**
   * Ids of the providers in the role creator_platform with high or medium confidence, separated by semicolons.
   */
  creator_platform?: string | null;
  /**
   * Ids of the providers in the role careers with high or medium confidence, separated by semicolons.
   */
  careers?: string | null;
  /**
   * Ids of the providers in the role help_centre with high or medium confidence, separated by semicolons.
   */
  help_centre?: string | null;
  /**
   * Ids of the providers in the role status_page with high or medium confidence, separated by semicolons.
   */
  status_page?: string | null;
  /**
   * Ids of the providers in the role identity with high or medium confidence, separated by semicolons.
   */
  identity?: string | null;
  /**
   * The first scan that measured it.
   */
  first_seen?: string | null;
  /**
   * Confirmation of its last change of services; empty: none.
   */
  changed_at?: string | null;
}
export interface Market {
  category: Category;
  /**
   * Null for all roles of the category.
   */
  role: Role | null;
  /**
   * Domains with the role: attributed, self-hosted and unknown.
   */
  domains: number;
  /**
   * Base of shares and HHI: attributed and self-hosted domains.
   */
  denominator: number;
  attributed_share: number | null;
  self_hosted_share: number | null;
  unknown_share: number | null;
  /**
   * Domains whose role could not be measured; excluded from all other numbers.
   */
  unmeasured: number;
  /**
   * HHI by brand.
   */
  hhi: number | null;
  hhi_by_owner: number | null;
  /**
   * `insufficient_data` below 200 domains or with less than half of them attributed.
   */
  band: 'unconcentrated' | 'moderate' | 'high' | 'insufficient_data';
  /**
   * Share of the four largest providers.
   */
  cr4: number | null;
  /**
   * 10,000 / HHI: the number of equal providers with the same concentration.
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
    /**
     * Domains gained minus domains lost in this category with any confidence, confirmed within 30 days. Null with `query`.
     */
    change_30d: number | null;
  }[];
}
/**
 * version: the observed version is in an affected range. product: only the product was observed; this does not claim that it is affected.
 */
export type Match = 'version' | 'product';
/**
 * absent: measured and not present; unmeasured: the lookup failed; blocked: access was denied.
 */
export type Measurement = 'observed' | 'absent' | 'unmeasured' | 'blocked';
export interface MentionDay {
  date: string;
  mentions: number;
}
export interface MentionWindow {
  window: '1d' | '7d' | '30d';
  mentions: number;
  feeds: number;
  /**
   * Mentions in the previous window of the same length.
   */
  previous: number;
  change: number;
  /**
   * new: not mentioned before; none: mentioned in neither window.
   */
  trend: 'new' | 'up' | 'down' | 'same' | 'none';
}
export interface Migration {
  id: string;
  /**
   * Time of the first observation.
   */
  at: string;
  /**
   * Time of the second, confirming observation.
   */
  confirmed_at: string;
  category: Category;
  role: Role;
  type: 'added' | 'removed' | 'migrated' | 'reclassified';
  from: string | null;
  to: string | null;
  from_id: string | null;
  to_id: string | null;
  confidence: 'high' | 'medium' | 'low';
  importance: 'high' | 'medium' | 'low';
  domain: string;
}
export interface MigrationEvent {
  _alpha: true;
  _notice: string;
  id: string;
  /**
   * Time of confirmation.
   */
  at: string;
  /**
   * Time of publication in microseconds; unique for each event.
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
 * Null until an advisory source has been read.
 */
export type OpenAdvisories = {
  /**
   * Advisories that affect the observed versions.
   */
  version: number;
  /**
   * Advisories of the observed products that possibly affect them.
   */
  product: number;
  /**
   * Advisories in `version` that are known to be exploited.
   */
  known_exploited: number;
  /**
   * Advisories in `version` by severity.
   */
  by_severity: {
    [k: string]: number;
  };
  /**
   * The most urgent ones, those in `version` first; at most 10.
   */
  top: Exposure[];
} | null;
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
    /**
     * Where in the value the problem begins: the number of the character.
     */
    position?: number;
  }[];
  _alpha: true;
  _notice: string;
  provenance: Provenance;
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
export interface RiskFactor {
  factor: string;
  /**
   * Weight in the complete profile.
   */
  weight: number;
  /**
   * Null if unmeasured, which excludes it from the score.
   */
  risk: number | null;
  finding: string;
}
export interface RoleMarket {
  category: Category;
  role: Role;
  /**
   * Domains with the role: attributed, self-hosted and unknown.
   */
  domains: number;
  /**
   * Base of shares and HHI: attributed and self-hosted domains.
   */
  denominator: number;
  attributed_share: number | null;
  self_hosted_share: number | null;
  unknown_share: number | null;
  /**
   * Domains whose role could not be measured; excluded from all other numbers.
   */
  unmeasured: number;
  /**
   * HHI by brand.
   */
  hhi: number | null;
  hhi_by_owner: number | null;
  /**
   * `insufficient_data` below 200 domains or with less than half of them attributed.
   */
  band: 'unconcentrated' | 'moderate' | 'high' | 'insufficient_data';
  /**
   * Share of the four largest providers.
   */
  cr4: number | null;
  /**
   * 10,000 / HHI: the number of equal providers with the same concentration.
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
    /**
     * Domains gained minus domains lost in this category with any confidence, confirmed within 30 days. Null with `query`.
     */
    change_30d: number | null;
  }[];
  label: string;
  /**
   * One holder at a time: a change of holder is a migration.
   */
  is_exclusive: boolean;
  /**
   * Without its provider, mail or the site does not work.
   */
  is_critical: boolean;
}
/**
 * Security posture. Unmeasured factors are excluded from the denominator of the score.
 */
export interface Security {
  spf: {
    status: Measurement;
    /**
     * permerror: receivers that evaluate the complete policy get a permanent error.
     */
    result: 'valid' | 'none' | 'permerror' | 'unmeasured';
    record: string | null;
    /**
     * The `all` term of the record.
     */
    all: ('-all' | '~all' | '?all' | '+all') | null;
    /**
     * Result for the policy with its includes; unknown: the lookup of an include failed.
     */
    evaluation: 'valid' | 'invalid' | 'unknown' | 'none' | 'unmeasured';
    /**
     * The effective `all` term, through `redirect=`.
     */
    effective_all: ('-all' | '~all' | '?all' | '+all') | null;
    /**
     * Any host may send.
     */
    is_open: boolean;
    /**
     * Terms that cause lookups: at most ten are allowed (RFC 7208, 4.6.4).
     */
    lookups: number;
    /**
     * Terms without an answer, as far as known: at most two are allowed (RFC 7208, 4.6.4).
     */
    void_lookups: number;
    /**
     * Addresses authorized by `ip4` terms.
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
     * Hosts that the policy refers to; depth: the number of policies of other owners in between.
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
     * As evaluated by receivers: none if the published one is unreadable and reports are requested.
     */
    policy: ('none' | 'quarantine' | 'reject') | null;
    /**
     * The policy after `t=y` is applied.
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
     * Whether the report hosts agree to receive reports (RFC 9990).
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
     * Whether the certificate's issuer is among them.
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
     * The DMARC policy is strict enough to show a logo.
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
     * Full days from the scan to the expiry of the certificate.
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
   * Security headers of the home page.
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
    factor: Part;
    finding: 'pass' | 'partial' | 'fail' | 'unmeasured';
    /**
     * Of an earlier scan: the last one could not measure it.
     */
    stale: boolean;
    points: number;
    /**
     * Maximum points for what was measured.
     */
    possible: number;
    /**
     * Full points of the factor; 0: reported and not scored.
     */
    weight: number;
    /**
     * Stable name of the finding.
     */
    id: string;
    /**
     * Everything that prevents full points, most severe first.
     */
    issues: string[];
    evidence: string | null;
    /**
     * Recommended action for the owner; null if no action is needed.
     */
    advice: string | null;
  }[];
  /**
   * Parts that the last scan could not measure, and when an earlier one did. The score uses them.
   */
  stale_parts: {
    part: Part;
    measured_at: string;
  }[];
  score: number | null;
  grade: Grade | null;
  coverage: number;
  score_version: string;
}
export interface Segment {
  name: string;
  query: string;
  updated_at: string;
}
export interface Service {
  category: Category;
  role: Role;
  provider: string;
  provider_id: string;
  confidence: 'high' | 'medium' | 'low';
  first_seen: string;
  last_seen: string;
  /**
   * Of an earlier scan: the last one could not measure its role.
   */
  stale: boolean;
  /**
   * As shown by a header or the page.
   */
  version: string | null;
  /**
   * The platform of the version, if shown: `ubuntu`.
   */
  platform: string | null;
  evidence: {
    source:
      | 'ns'
      | 'soa'
      | 'mx'
      | 'spf'
      | 'txt'
      | 'dmarc'
      | 'caa'
      | 'cname'
      | 'asn'
      | 'header'
      | 'cookie'
      | 'html'
      | 'tls';
    value: string;
    rule: string;
  }[];
  /**
   * The reason for the claim, in one sentence.
   */
  explanation: string;
  /**
   * Kinds of the provider, more specific than the category.
   */
  kinds: Kind[];
}
export interface ServiceChangeEvent {
  _alpha: true;
  _notice: string;
  id: string;
  /**
   * Time of confirmation.
   */
  at: string;
  /**
   * Time of publication in microseconds; unique for each event.
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
export type Severity = 'info' | 'low' | 'medium' | 'high' | 'critical';
export interface WatchChannelInput {
  kind: 'webhook' | 'slack' | 'teams' | 'email';
  /**
   * webhook, slack, teams: an https address.
   */
  url?: string;
  /**
   * email: the address; receives notifications once its owner has confirmed it.
   */
  to?: string;
  /**
   * webhook: key of the signature; generated by default, and kept while the url is the same.
   */
  secret?: string;
  digest?: 'none' | 'hourly' | 'daily';
  /**
   * Of the daily digest (08:00) and of quiet hours.
   */
  time_zone?: string;
  /**
   * Messages wait until `to`, and are sent as one.
   */
  quiet_hours?: {
    from: string;
    to: string;
  };
}
export interface WatchDelivery {
  /**
   * The `webhook-id` of the message, the same in every attempt.
   */
  id: string;
  channel: string;
  /**
   * confirmation: asks the owner of an e-mail address.
   */
  kind: 'notifications' | 'test' | 'confirmation';
  notifications: number;
  /**
   * dead: given up.
   */
  state: 'pending' | 'delivered' | 'dead';
  attempts: number;
  created_at: string;
  next_attempt_at: string | null;
  finished_at: string | null;
  /**
   * HTTP status, or reply of the mail server, of the last attempt.
   */
  status: number | null;
  error: string | null;
}
export interface WatchNotification {
  id: string;
  rule: Rule;
  /**
   * Time of the event.
   */
  at: string;
  created_at: string;
  domain: string;
  domains?: string[];
  title: string;
  detail: {
    [k: string]: string | number | null;
  };
  /**
   * Path of the underlying data.
   */
  ref: string;
}
export interface WatchRuleInput {
  kind: Rule;
  /**
   * Id, name or alias. migrated_to: the new provider, required.
   */
  provider?: string;
  /**
   * migrated_to: the previous provider.
   */
  from?: string;
  category?: Category;
  /**
   * posture_fell: by at least this; by default to a worse grade.
   */
  points?: number;
  /**
   * expires_soon: days before the certificate expires; 14 by default.
   */
  days?: number;
}
export interface Watchlist {
  id: string;
  name: string;
  domain_count: number;
  /**
   * Decides the domains.
   */
  query?: string;
  /**
   * Of the query.
   */
  evaluated_at?: string;
  rules: {
    kind: Rule;
    provider?: string;
    from?: string;
    category?: Category;
    points?: number;
    days?: number;
  }[];
  channels: {
    id: string;
    kind: 'webhook' | 'slack' | 'teams' | 'email';
    url?: string;
    to?: string;
    secret?: string;
    digest: 'none' | 'hourly' | 'daily';
    time_zone: string;
    quiet_hours?: {
      from: string;
      to: string;
    };
    /**
     * email: by the owner of the address.
     */
    confirmation?: 'waiting' | 'confirmed' | 'refused';
  }[];
  /**
   * Path of the Atom feed; it contains a secret.
   */
  feed: string;
  created_at: string;
  updated_at: string;
}
export interface WatchlistWithDomains {
  id: string;
  name: string;
  domain_count: number;
  /**
   * Decides the domains.
   */
  query?: string;
  /**
   * Of the query.
   */
  evaluated_at?: string;
  rules: {
    kind: Rule;
    provider?: string;
    from?: string;
    category?: Category;
    points?: number;
    days?: number;
  }[];
  channels: {
    id: string;
    kind: 'webhook' | 'slack' | 'teams' | 'email';
    url?: string;
    to?: string;
    secret?: string;
    digest: 'none' | 'hourly' | 'daily';
    time_zone: string;
    quiet_hours?: {
      from: string;
      to: string;
    };
    /**
     * email: by the owner of the address.
     */
    confirmation?: 'waiting' | 'confirmed' | 'refused';
  }[];
  /**
   * Path of the Atom feed; it contains a secret.
   */
  feed: string;
  created_at: string;
  updated_at: string;
  domains: string[];
}
/**
 * Each POST path, and the body of its complete answer.
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
  /**
   * What is known about up to 1000 domains
   */
  '/stack/v1/domains:lookup': {
    path: Record<string, never>;
    query: {
      /**
       * Columns of the answer, in this order, separated by commas.
       */
      fields?: string;
      /**
       * Format of the answer; it precedes the header `Accept`.
       */
      format?: 'json' | 'csv' | 'ndjson' | 'parquet';
    };
    body: {
      rows: LookupRow[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Starts a job: what is known about up to 1,000,000 domains
   */
  '/stack/v1/lookups': {
    path: Record<string, never>;
    query: {
      /**
       * Format of the file.
       */
      format?: 'csv' | 'ndjson' | 'parquet';
      /**
       * Columns of the file, in this order, separated by commas.
       */
      fields?: string;
    };
    body: {
      job: Job;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Domains that match a query, with facets
   */
  '/stack/v1/query': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      total: number;
      limit: number;
      /**
       * Number of entries before this page.
       */
      offset: number;
      /**
       * `cursor` of the next page; null at the end of the list.
       */
      next_cursor: string | null;
      results: FoundDomain[];
      /**
       * In the order requested.
       */
      facets: Facet[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Starts a job: all domains of a search, with their providers by role
   */
  '/stack/v1/exports/domains': {
    path: Record<string, never>;
    query: {
      /**
       * Any part of the domain name, in Unicode or as A-labels; or up to eight parts, separated by blanks, in any order.
       */
      q?: string;
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      category?: Category;
      role?: Role;
      /**
       * Confidence of the service that matches `provider`, `category` and `role`, or of any service.
       */
      confidence?: 'high' | 'medium' | 'low';
      /**
       * Minimum confidence: market shares count services of `medium` confidence and more.
       */
      min_confidence?: 'high' | 'medium' | 'low';
      /**
       * An additional provider of the domain, by id, name or alias.
       */
      with?: string;
      sector?: Sector;
      state?: State;
      /**
       * Required flags of the security posture, separated by commas: `dmarc_reject`, `spf_valid,dmarc_valid`.
       */
      flag?: string;
      /**
       * Excluded flags: `flag=dnssec_measured&without=dnssec`.
       */
      without?: string;
      /**
       * Grade of the security score.
       */
      grade?: 'a+' | 'a' | 'b' | 'c' | 'd' | 'f';
      /**
       * Minimum security score; excludes domains without a score.
       */
      score_gte?: number;
      /**
       * Maximum security score.
       */
      score_lte?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
      /**
       * Format of the file.
       */
      format?: 'csv' | 'ndjson' | 'parquet';
      /**
       * Columns of the file, in this order, separated by commas.
       */
      fields?: string;
    };
    body: {
      job: Job;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Starts a job: the current services of all domains of a search
   */
  '/stack/v1/exports/services': {
    path: Record<string, never>;
    query: {
      /**
       * Any part of the domain name, in Unicode or as A-labels; or up to eight parts, separated by blanks, in any order.
       */
      q?: string;
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      category?: Category;
      role?: Role;
      /**
       * Confidence of the service that matches `provider`, `category` and `role`, or of any service.
       */
      confidence?: 'high' | 'medium' | 'low';
      /**
       * Minimum confidence: market shares count services of `medium` confidence and more.
       */
      min_confidence?: 'high' | 'medium' | 'low';
      /**
       * An additional provider of the domain, by id, name or alias.
       */
      with?: string;
      sector?: Sector;
      state?: State;
      /**
       * Required flags of the security posture, separated by commas: `dmarc_reject`, `spf_valid,dmarc_valid`.
       */
      flag?: string;
      /**
       * Excluded flags: `flag=dnssec_measured&without=dnssec`.
       */
      without?: string;
      /**
       * Grade of the security score.
       */
      grade?: 'a+' | 'a' | 'b' | 'c' | 'd' | 'f';
      /**
       * Minimum security score; excludes domains without a score.
       */
      score_gte?: number;
      /**
       * Maximum security score.
       */
      score_lte?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
      /**
       * Format of the file.
       */
      format?: 'csv' | 'ndjson' | 'parquet';
      /**
       * Columns of the file, in this order, separated by commas.
       */
      fields?: string;
    };
    body: {
      job: Job;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Starts a job: the observed records of all domains of a search, with their history
   */
  '/stack/v1/exports/records': {
    path: Record<string, never>;
    query: {
      /**
       * Any part of the domain name, in Unicode or as A-labels; or up to eight parts, separated by blanks, in any order.
       */
      q?: string;
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      category?: Category;
      role?: Role;
      /**
       * Confidence of the service that matches `provider`, `category` and `role`, or of any service.
       */
      confidence?: 'high' | 'medium' | 'low';
      /**
       * Minimum confidence: market shares count services of `medium` confidence and more.
       */
      min_confidence?: 'high' | 'medium' | 'low';
      /**
       * An additional provider of the domain, by id, name or alias.
       */
      with?: string;
      sector?: Sector;
      state?: State;
      /**
       * Required flags of the security posture, separated by commas: `dmarc_reject`, `spf_valid,dmarc_valid`.
       */
      flag?: string;
      /**
       * Excluded flags: `flag=dnssec_measured&without=dnssec`.
       */
      without?: string;
      /**
       * Grade of the security score.
       */
      grade?: 'a+' | 'a' | 'b' | 'c' | 'd' | 'f';
      /**
       * Minimum security score; excludes domains without a score.
       */
      score_gte?: number;
      /**
       * Maximum security score.
       */
      score_lte?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
      kind?: Unmeasured;
      /**
       * Format of the file.
       */
      format?: 'csv' | 'ndjson' | 'parquet';
      /**
       * Columns of the file, in this order, separated by commas.
       */
      fields?: string;
    };
    body: {
      job: Job;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Starts a job: all recorded changes of services
   */
  '/stack/v1/exports/history': {
    path: Record<string, never>;
    query: {
      /**
       * Id, name or alias of the previous or new provider.
       */
      provider?: string;
      category?: Category;
      /**
       * Type of the change.
       */
      type?: 'added' | 'removed' | 'migrated' | 'reclassified';
      /**
       * Only the last UTC days, including today.
       */
      days?: number;
      /**
       * Only the last hours up to now; takes precedence over `days`.
       */
      hours?: number;
      /**
       * Only later ones: a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      since?: string;
      /**
       * The end of the window, by default now; a date is included. Needs `since`. a date, a month, a time with a zone, or an age: 2026-01-31, 2026-01, 2026-01-31T12:00:00Z, 7d, 36h.
       */
      until?: string;
      /**
       * Format of the file.
       */
      format?: 'csv' | 'ndjson' | 'parquet';
      /**
       * Columns of the file, in this order, separated by commas.
       */
      fields?: string;
    };
    body: {
      job: Job;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Starts a job: the security posture of all domains of a search
   */
  '/stack/v1/exports/scorecard': {
    path: Record<string, never>;
    query: {
      /**
       * Any part of the domain name, in Unicode or as A-labels; or up to eight parts, separated by blanks, in any order.
       */
      q?: string;
      /**
       * Id, name or alias of a provider.
       */
      provider?: string;
      category?: Category;
      role?: Role;
      /**
       * Confidence of the service that matches `provider`, `category` and `role`, or of any service.
       */
      confidence?: 'high' | 'medium' | 'low';
      /**
       * Minimum confidence: market shares count services of `medium` confidence and more.
       */
      min_confidence?: 'high' | 'medium' | 'low';
      /**
       * An additional provider of the domain, by id, name or alias.
       */
      with?: string;
      sector?: Sector;
      state?: State;
      /**
       * Required flags of the security posture, separated by commas: `dmarc_reject`, `spf_valid,dmarc_valid`.
       */
      flag?: string;
      /**
       * Excluded flags: `flag=dnssec_measured&without=dnssec`.
       */
      without?: string;
      /**
       * Grade of the security score.
       */
      grade?: 'a+' | 'a' | 'b' | 'c' | 'd' | 'f';
      /**
       * Minimum security score; excludes domains without a score.
       */
      score_gte?: number;
      /**
       * Maximum security score.
       */
      score_lte?: number;
      /**
       * Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.
       */
      query?: string;
      /**
       * Format of the file.
       */
      format?: 'csv' | 'ndjson' | 'parquet';
      /**
       * Columns of the file, in this order, separated by commas.
       */
      fields?: string;
    };
    body: {
      job: Job;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Watch domains by rules
   */
  '/stack/v1/watchlists': {
    path: Record<string, never>;
    query: Record<string, never>;
    body: {
      watchlist: WatchlistWithDomains;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Send a test message to each channel
   */
  '/stack/v1/watchlists/{id}:test': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: {
      deliveries: WatchDelivery[];
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Send a message again
   */
  '/stack/v1/watchlists/{id}/deliveries/{delivery}:replay': {
    path: {
      id: string;
      delivery: string;
    };
    query: Record<string, never>;
    body: {
      delivery: WatchDelivery;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Confirm or unsubscribe an e-mail address
   */
  '/email/{action}': {
    path: {
      action: 'confirm' | 'unsubscribe';
    };
    query: {
      token: string;
    };
    body: string;
  };
}
/**
 * Each PUT and DELETE, and the body of its complete answer.
 */
export interface StackChanges {
  /**
   * Save a query as a segment
   */
  'PUT /stack/v1/segments/{name}': {
    path: {
      name: string;
    };
    query: Record<string, never>;
    body: {
      segment: Segment;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Delete a segment
   */
  'DELETE /stack/v1/segments/{name}': {
    path: {
      name: string;
    };
    query: Record<string, never>;
    body: {
      deleted: string;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Replace a watchlist
   */
  'PUT /stack/v1/watchlists/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: {
      watchlist: WatchlistWithDomains;
      _alpha: true;
      _notice: string;
      provenance: Provenance;
    };
  };
  /**
   * Delete a watchlist
   */
  'DELETE /stack/v1/watchlists/{id}': {
    path: {
      id: string;
    };
    query: Record<string, never>;
    body: {
      deleted: string;
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
       * Only these types, separated by commas: migration, anomaly, service_change, advisory.
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
      category?: Category;
      /**
       * Only events of the domains that this watchlist has at the beginning.
       */
      watchlist?: string;
    };
    body: string;
  };
}
/**
 * Values of `category`.
 */
export type Category =
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
 * Values of `unmeasured`.
 */
export type Unmeasured =
  | 'ns'
  | 'ns_set'
  | 'soa'
  | 'mx'
  | 'address'
  | 'network'
  | 'asn'
  | 'cname'
  | 'txt'
  | 'verification'
  | 'spf'
  | 'dmarc'
  | 'caa'
  | 'certificate_name'
  | 'certificate_issuer'
  | 'tag'
  | 'favicon'
  | 'redirect';
/**
 * Values of `role`.
 */
export type Role =
  | 'dns'
  | 'mailbox'
  | 'gateway'
  | 'sender'
  | 'origin'
  | 'edge'
  | 'protection'
  | 'verified'
  | 'issuer'
  | 'platform'
  | 'forwarding'
  | 'dmarc_reports'
  | 'waf'
  | 'bot_protection'
  | 'site_builder'
  | 'creator_platform'
  | 'careers'
  | 'help_centre'
  | 'status_page'
  | 'identity';
/**
 * Values of `grade`.
 */
export type Grade = 'A+' | 'A' | 'B' | 'C' | 'D' | 'F';
/**
 * Values of `sector`.
 */
export type Sector =
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
 * Values of `reason`.
 */
export type Reason = 'in_range' | 'no_version' | 'no_range' | 'condition' | 'backport';
/**
 * Values of `part`.
 */
export type Part =
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
/**
 * Values of `kinds`.
 */
export type Kind =
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
  | 'creator-platform'
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
  | 'app-store';
/**
 * Values of `rule`.
 */
export type Rule =
  | 'gained_provider'
  | 'lost_provider'
  | 'migrated_to'
  | 'posture_fell'
  | 'advisory_known_exploited'
  | 'expires_soon'
  | 'named_in_feed';
/**
 * Values of `state`.
 */
export type State = 'active' | 'parked' | 'nonexistent' | 'unmeasured' | 'live';
