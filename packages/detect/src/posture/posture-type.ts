// The security posture of a domain, standard by standard, and the score that it comes to. docs/posture.md explains all of it.

import type { PolicyEvidence } from '../evidence/evidence.ts';
import type { SpfPolicy } from '../spf/types.ts';
import type { Dmarc } from './mail/dmarc-policy.ts';
import type { IssueId } from './score/issues.ts';

/** `absent`: looked and not there. `unmeasured`: the look-up failed. `blocked`: something kept us out. */
export type Measurement = 'observed' | 'absent' | 'unmeasured' | 'blocked';

export type Finding = 'pass' | 'partial' | 'fail' | 'unmeasured';

/** What the score looks at; `dkim` and `bimi` are reported and weigh nothing. */
export const FACTORS = [
  'spf',
  'dmarc',
  'dkim',
  'dnssec',
  'caa',
  'mta_sts',
  'tls_rpt',
  'bimi',
  'tls',
  'hsts',
  'headers',
  'security_txt',
] as const;
export type FactorName = (typeof FACTORS)[number];

/** One factor of the score: `points` of `possible`; an unmeasured factor leaves the denominator. */
export interface PostureFactor {
  readonly factor: FactorName;
  readonly finding: Finding;
  readonly points: number;
  /** Points that could be had by what was measured: `weight`, or less where a part of the factor was not. */
  readonly possible: number;
  readonly weight: number;
  /** What keeps it from full points, gravest first; `explainFactor` has the words. */
  readonly issues: readonly IssueId[];
}

/** A key seen under a selector. `weak`: below 1,024 bits; `short`: below 2,048. */
export interface DkimKey {
  readonly selector: string;
  readonly type: string;
  /** Null where the key cannot be read. */
  readonly bits: number | null;
  readonly isTesting: boolean;
  readonly problem: 'revoked' | 'unknown-type' | 'unreadable' | 'sha1-only' | 'not-for-mail' | 'weak' | 'short' | null;
}

/** Why there is no record though somebody meant one: several of the version, or one that does not begin as it has to. */
export type RecordProblem = 'several-records' | 'unreadable-record';

/** `mx-mismatch`: an exchange of the domain that the policy does not name. */
export type MtaStsProblem = RecordProblem | 'bad-id' | 'no-policy' | 'bad-policy' | 'mx-mismatch' | 'short-max-age';

export type TlsIssue =
  | 'expired'
  | 'not-yet-valid'
  | 'name-mismatch'
  | 'self-signed'
  | 'untrusted-root'
  | 'incomplete-chain'
  | 'revoked'
  | 'untrusted';

export type SecurityTxtProblem = 'no-contact' | 'no-expiry' | 'expired';

export interface Posture {
  readonly spf: Omit<SpfPolicy, 'result' | 'evaluation' | 'isRedirected' | 'usesPtr' | 'senders'> & {
    readonly status: Measurement;
    readonly result: SpfPolicy['result'] | 'unmeasured';
    readonly evaluation: SpfPolicy['evaluation'] | 'unmeasured';
    /** Hosts of includes, redirects and `exists:`, and how many foreign policies stand before each. */
    readonly senders: readonly { readonly host: string; readonly depth: number }[];
  };
  readonly dmarc: { readonly status: Measurement } & Omit<
    Dmarc,
    'organizationalDomain' | 'reportHosts' | 'isUnsettled'
  >;
  /** Keys seen. Reported, never scored: selectors cannot be enumerated. */
  readonly dkim: {
    readonly status: Measurement;
    readonly selectors: readonly string[];
    readonly keys: readonly DkimKey[];
  };
  readonly dnssec: {
    readonly status: Measurement;
    readonly isSigned: boolean | null;
    readonly algorithms: readonly number[];
    /** An algorithm or a digest that nobody should sign with any more; null where it is not signed or not measured. */
    readonly isWeak: boolean | null;
    readonly validation: PolicyEvidence['validation'];
  };
  readonly caa: {
    readonly status: Measurement;
    readonly issuers: readonly string[];
    readonly wildcardIssuers: readonly string[];
    /** An `issue` property limits who may issue; `issuewild` alone limits nobody but for wildcards. */
    readonly isRestricted: boolean;
    readonly hasIncidentContact: boolean;
    /** Critical properties that no authority knows: none may issue. */
    readonly unknownCritical: readonly string[];
    /** The certificate's issuer is among those permitted; null where that cannot be told. */
    readonly permitsIssuer: boolean | null;
  };
  readonly mtaSts: {
    readonly status: Measurement;
    readonly hasRecord: boolean | null;
    /** Of the policy file; null where it was not had. */
    readonly mode: 'enforce' | 'testing' | 'none' | null;
    /** Seconds. */
    readonly maxAge: number | null;
    readonly problem: MtaStsProblem | null;
  };
  readonly tlsRpt: {
    readonly status: Measurement;
    readonly hasRecord: boolean | null;
    readonly hasAddress: boolean | null;
    readonly problem: RecordProblem | null;
  };
  readonly bimi: {
    readonly status: Measurement;
    readonly hasRecord: boolean | null;
    readonly hasLogo: boolean | null;
    readonly hasCertificate: boolean | null;
    /** The DMARC policy is strict enough for receivers to show the logo. */
    readonly isEligible: boolean | null;
  };
  readonly tls: {
    readonly status: Measurement;
    readonly protocol: string | null;
    readonly isTrusted: boolean | null;
    /** OpenSSL's code; `issue` is the same in an owner's words. */
    readonly problem: string | null;
    readonly validTo: string | null;
    readonly issue: TlsIssue | null;
    /** Less than a tenth of its life is left, and less than 14 days. */
    readonly expiresSoon: boolean;
  };
  readonly hsts: {
    readonly status: Measurement;
    /** Seconds. */
    readonly maxAge: number | null;
    readonly includesSubdomains: boolean;
    readonly isPreload: boolean;
  };
  /** Of the home page; null where it was not seen. */
  readonly headers: {
    readonly status: Measurement;
    readonly csp: 'none' | 'report-only' | 'weak' | 'strong' | null;
    readonly isSniffingOff: boolean | null;
    readonly isFramingLimited: boolean | null;
    readonly isReferrerCareful: boolean | null;
    readonly hasPermissionsPolicy: boolean | null;
  };
  readonly securityTxt: {
    readonly status: Measurement;
    readonly expires: string | null;
    readonly isSigned: boolean;
    readonly problem: SecurityTxtProblem | null;
  };
  readonly factors: readonly PostureFactor[];
  /** 0–100, or null when SPF or DMARC, or more than 40 % of the points, could not be measured. */
  readonly score: number | null;
  readonly grade: 'A+' | 'A' | 'B' | 'C' | 'D' | 'F' | null;
  readonly coverage: number;
  readonly scoreVersion: string;
}
