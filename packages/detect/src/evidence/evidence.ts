// The evidence that one probe of a domain collects, record by record. @strata/scan writes it, detection reads it.
// Plain, JSON-safe data.

/**
 * How a look-up ended. `empty` (NOERROR without such a record, RFC 2308 NODATA) and `nxdomain` are measured absence;
 * `skipped` means that no query was made; every other status is a failure and says nothing about the record.
 */
export type LookupStatus =
  | 'found'
  | 'empty'
  | 'nxdomain'
  | 'servfail'
  | 'refused'
  | 'timeout'
  | 'malformed'
  | 'skipped';

/** One DNS query and its outcome. `records` is empty unless `status` is `found`. */
export interface Lookup<T> {
  readonly status: LookupStatus;
  readonly records: readonly T[];
  /** CNAME targets in the order followed, lower-case without trailing dot; present even when the chain dangles. */
  readonly aliases: readonly string[];
  /** The cause of a failure, or what was truncated; for people, never parsed. */
  readonly detail?: string;
}

export interface MxRecord {
  readonly preference: number;
  /** Lower-case host name without trailing dot; `''` is the null MX of RFC 7505. */
  readonly exchange: string;
}

export interface SoaRecord {
  readonly mname: string;
  readonly rname: string;
  readonly serial: number;
}

export interface CaaRecord {
  readonly critical: boolean;
  readonly tag: string;
  readonly value: string;
}

export interface DsRecord {
  readonly keyTag: number;
  readonly algorithm: number;
  readonly digestType: number;
  /** Lower-case hex. */
  readonly digest: string;
}

export interface DnsEvidence {
  readonly ns: Lookup<string>;
  readonly soa: Lookup<SoaRecord>;
  readonly a: Lookup<string>;
  readonly aaaa: Lookup<string>;
  /** Sorted by preference, then exchange. */
  readonly mx: Lookup<MxRecord>;
  /** Apex TXT; the character strings of a record are joined without spaces (RFC 7208 §3.3). */
  readonly txt: Lookup<string>;
  readonly caa: Lookup<CaaRecord>;
  readonly ds: Lookup<DsRecord>;
  /** A records of `www`, or AAAA if it has none; its CNAME chain is `www.aliases`. */
  readonly www: Lookup<string>;
  /** TXT of `_dmarc`, `_mta-sts`, `_smtp._tls`, `default._bimi`. */
  readonly dmarc: Lookup<string>;
  readonly mtaSts: Lookup<string>;
  readonly tlsRpt: Lookup<string>;
  readonly bimi: Lookup<string>;
  /**
   * Names that the rulebook requests, keyed by label relative to the domain (`selector1._domainkey`, `autodiscover`).
   */
  readonly named: Readonly<Record<string, Lookup<string>>>;
  /** TXT and A of a random label: the zone's wildcard answers (`found` means that there is a wildcard). */
  readonly wildcardTxt: Lookup<string>;
  readonly wildcardA: Lookup<string>;
  /** MX of a random label; missing in evidence of earlier probes. */
  readonly wildcardMx?: Lookup<MxRecord>;
}

/** Records outside the domain's own names that its published policies reference. */
export interface PolicyEvidence {
  /**
   * TXT of every name that the SPF policy references (`include:`, `redirect=`), by name, as far as receivers would
   * follow.
   */
  readonly spf: Readonly<Record<string, Lookup<string>>>;
  /** TXT of `_dmarc` below the domain's parents (RFC 9989, tree walk), by parent: `co.uk`. */
  readonly dmarcParents: Readonly<Record<string, Lookup<string>>>;
  /** TXT of `{domain}._report._dmarc.{host}` (RFC 9990), by host, for report addresses outside the domain. */
  readonly reportConsents: Readonly<Record<string, Lookup<string>>>;
  /**
   * `bogus`: answered only with signature checking disabled (RFC 4035 §4.7). `unknown`: the resolver does not validate.
   */
  readonly validation: 'secure' | 'insecure' | 'bogus' | 'unknown';
}

/** The network that announces an address, from Team Cymru's IP-to-ASN zone. */
export interface AddressEvidence {
  /** Empty if the look-up of the host's address failed; `status` is the outcome of that look-up. */
  readonly address: string;
  /** `web`: the apex, `www`: its www name, `mail`: the most preferred MX, `ns`: a name server. */
  readonly use: 'web' | 'www' | 'mail' | 'ns';
  /** The host name of the address; missing in evidence of earlier probes. */
  readonly host?: string;
  readonly status: LookupStatus;
  readonly asn: number | null;
  readonly asName: string | null;
  /** Announced CIDR, as in the zone. */
  readonly prefix: string | null;
  /** ISO 3166 code that the registry gives for the network, `DE`; missing in evidence of earlier probes. */
  readonly country?: string | null;
}

/** The parts of an HTML page that detection uses, extracted while the page streams; lists are bounded. */
export interface Page {
  readonly title: string | null;
  /** `<meta name|property>` -> content, names lower-case. */
  readonly metas: Readonly<Record<string, string>>;
  /** `src` of scripts, images and frames, `href` of links, resolved against the page's URL. */
  readonly assets: readonly string[];
  /** Ids, and names of `data-…` and `ng-…` attributes, lower-case: `__next_data__`, `data-wf-site`. */
  readonly markers: readonly string[];
  /** schema.org types with which the page describes its subject: `Hospital`; missing in evidence of earlier probes. */
  readonly types?: readonly string[];
  /** Ids of analytics, tag managers and advertisers: `GTM-…`, `G-…`; missing in evidence of earlier probes. */
  readonly tags?: readonly string[];
  /** The icon that the page links; missing where it links none, or only one without a host (`data:`). */
  readonly icon?: string;
  /** The page exceeded the limit and only its beginning was parsed. */
  readonly isTruncated: boolean;
  /** The beginning of the HTML, at most 64 KiB; present only if a community set has patterns for it. */
  readonly source?: string;
}

/** `blocked`: a bot wall, or a robots.txt that disallows the request. The site exists and was not measured. */
type HttpStatus = 'found' | 'blocked' | 'refused' | 'timeout' | 'failed' | 'skipped';

export interface HttpEvidence {
  readonly status: HttpStatus;
  /** The last URL of the redirect chain; `redirects` has the URLs before it, in order. */
  readonly url: string | null;
  readonly redirects: readonly string[];
  readonly statusCode: number | null;
  /** Lower-case names; repeated headers are joined by `, `; without `set-cookie`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Cookie names, never their values. */
  readonly cookies: readonly string[];
  readonly page: Page | null;
  readonly detail?: string;
}

export interface TlsEvidence {
  readonly status: 'found' | 'refused' | 'timeout' | 'failed' | 'skipped';
  /** Organisation (O) of the issuer, or its common name. */
  readonly issuer: string | null;
  readonly issuerCommonName: string | null;
  readonly names: readonly string[];
  /** ISO 8601 UTC. */
  readonly validFrom: string | null;
  readonly validTo: string | null;
  /** `TLSv1.3` and the like. */
  readonly protocol: string | null;
  /** Whether the chain and the name are valid; otherwise `problem` is OpenSSL's code (`CERT_HAS_EXPIRED`). */
  readonly isTrusted: boolean | null;
  readonly problem: string | null;
}

/** A file at a path that a standard defines. `missing`: a measured absence (404, 410). */
export interface FileEvidence {
  readonly status: 'found' | 'missing' | 'blocked' | 'refused' | 'timeout' | 'failed' | 'skipped';
  readonly statusCode: number | null;
  readonly contentType: string | null;
  /** Its beginning, at most 16 KiB; empty unless found. */
  readonly text: string;
  readonly detail?: string;
}

/** The icon of the site. `missing`: measured, but without an image. */
export interface FaviconEvidence {
  readonly status: FileEvidence['status'];
  /** MurmurHash3 (x86, 32 bits, signed) of its base64 text in lines of 76 characters; null unless found. */
  readonly hash: number | null;
  readonly detail?: string;
}

export interface Evidence {
  /** Registrable domain, lower-case A-label form. */
  readonly domain: string;
  /** ISO 8601 UTC, when the probe began. */
  readonly observedAt: string;
  readonly durationMs: number;
  readonly dns: DnsEvidence;
  readonly addresses: readonly AddressEvidence[];
  readonly http: HttpEvidence;
  readonly tls: TlsEvidence;
  /** This and `files` are missing in evidence of earlier probes, which did not request them. */
  readonly policies?: PolicyEvidence;
  readonly files?: {
    /**
     * `https://mta-sts.{domain}/.well-known/mta-sts.txt` (RFC 8461), without redirects; requested only if there is a
     * record.
     */
    readonly mtaSts: FileEvidence;
    /** `https://{domain}/.well-known/security.txt` (RFC 9116). */
    readonly securityTxt: FileEvidence;
    /** Missing in evidence of earlier probes. */
    readonly favicon?: FaviconEvidence;
  };
}

/** Whether the outcome is a measurement: found, or certainly absent. */
export function isMeasured(status: LookupStatus): boolean {
  return status === 'found' || status === 'empty' || status === 'nxdomain';
}

/** Whether the look-up was made and failed. A `skipped` look-up has not failed. */
export function isFailed(status: LookupStatus): boolean {
  return status !== 'skipped' && !isMeasured(status);
}
