// The plan of a simulated company: its providers, and how its zone, site and certificate behave.
import type { Situation } from './situations.ts';

/** How a zone fails: the server errors, does not know the zone, does not respond, or is slow. */
export type ZoneFault = 'servfail' | 'lame' | 'silent' | 'slow';

/** How a site behaves. `redirects` sends every visitor to another company; `holding` is the registrar's page. */
export type SiteBehaviour = 'ok' | 'holding' | 'wall' | 'refused' | 'reset' | 'slow' | 'redirects' | 'http-only';

export type CertificateKind = 'good' | 'expired' | 'self-signed' | 'wrong-name';

type DmarcPolicy = 'none' | 'quarantine' | 'reject';

/** Before services beside the site and a situation are drawn. */
export type BasePlan = Omit<Plan, 'situation' | 'siteServices'>;

export interface Plan {
  readonly domain: string;
  readonly state: 'active' | 'parked' | 'nonexistent' | 'broken';
  readonly fault: ZoneFault | null;
  readonly parking: string;
  /** DNS providers; empty is self-hosted. */
  readonly dns: readonly string[];
  /** Provider id, `self`, `regional`, `null-mx` or `none`. */
  readonly mailbox: string;
  readonly gateway: string | null;
  readonly senders: readonly string[];
  readonly reports: string | null;
  readonly tokens: readonly string[];
  /** Provider id, or `self` in an access network. */
  readonly hosting: string;
  readonly accessNetwork: string;
  readonly regional: string;
  readonly cdn: string | null;
  readonly platform: string;
  /** Ids of services beside the site. */
  readonly siteServices: readonly string[];
  readonly server: string;
  readonly authority: string;
  readonly certificate: CertificateKind;
  readonly site: SiteBehaviour;
  readonly redirectsTo: string | null;
  readonly dmarc: DmarcPolicy | null;
  readonly spfAll: '-all' | '~all' | '?all' | null;
  readonly isSigned: boolean;
  /** Signed with invalid signatures: a validating resolver gets no answer (RFC 4035 section 5.5). */
  readonly isBogus: boolean;
  readonly hasCaa: boolean;
  readonly hasMtaSts: boolean;
  readonly hasTlsRpt: boolean;
  readonly hasBimi: boolean;
  readonly hasIpv6: boolean;
  /** Supports at most TLS 1.2, if the site has an address of its own. */
  readonly isOldTls: boolean;
  readonly situation: Situation;
}
