// The security posture of a domain, standard by standard, and its score. docs/posture.md explains all of it.

import type { PolicyEvidence } from '../evidence/evidence.ts';
import type { SpfPolicy } from '../spf/types.ts';
import type { Dmarc } from './mail/dmarc-policy.ts';
import type { IssueId } from './score/issues.ts';

/** `absent`: queried and not there. `unmeasured`: the look-up failed. `blocked`: access was denied. */
export type Measurement = 'observed' | 'absent' | 'unmeasured' | 'blocked';

export type Finding = 'pass' | 'partial' | 'fail' | 'unmeasured';

/** The factors of the score; `dkim` and `bimi` are reported and have no weight. */
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

/** One factor of the score: `points` of `possible`; an unmeasured factor is not in the denominator. */
export interface PostureFactor {
  readonly factor: FactorName;
  readonly finding: Finding;
  readonly points: number;
  /** Maximum points by what was measured: `weight`, or less if a part of the factor was not measured. */
  readonly possible: number;
  readonly weight: number;
  /** Reasons for lost points, most severe first; `explainFactor` has the texts. */
  readonly issues: readonly IssueId[];
}

/** A key observed under a selector. `weak`: below 1,024 bits; `short`: below 2,048. */
export interface DkimKey {
  readonly selector: string;
  readonly type: string;
  /** Null if the key cannot be parsed. */
  readonly bits: number | null;
  readonly isTesting: boolean;
  readonly problem: 'revoked' | 'unknown-type' | 'unreadable' | 'sha1-only' | 'not-for-mail' | 'weak' | 'short' | null;
}

/** Why there is no record although one was meant: several of the version, or one with a wrong beginning. */
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
    /** Hosts of includes, redirects and `exists:`, and the number of foreign policies in between. */
    readonly senders: readonly { readonly host: string; readonly depth: number }[];
  };
  readonly dmarc: { readonly status: Measurement } & Omit<
    Dmarc,
    'organizationalDomain' | 'reportHosts' | 'isUnsettled'
  >;
  /** Observed keys. Reported, never scored: selectors cannot be enumerated. */
  readonly dkim: {
    readonly status: Measurement;
    readonly selectors: readonly string[];
    readonly keys: readonly DkimKey[];
  };
  readonly dnssec: {
    readonly status: Measurement;
    readonly isSigned: boolean | null;
    readonly algorithms: readonly number[];
    /** An algorithm or digest that should not be used for signing; null if the zone is not signed or not measured. */
    readonly isWeak: boolean | null;
    readonly validation: PolicyEvidence['validation'];
  };
  readonly caa: {
    readonly status: Measurement;
    readonly issuers: readonly string[];
    readonly wildcardIssuers: readonly string[];
    /** An `issue` property restricts issuance; `issuewild` alone restricts wildcards only. */
    readonly isRestricted: boolean;
    readonly hasIncidentContact: boolean;
    /** Critical properties that no authority knows, which forbid all issuance. */
    readonly unknownCritical: readonly string[];
    /** The certificate's issuer is among those permitted; null if unknown. */
    readonly permitsIssuer: boolean | null;
  };
  readonly mtaSts: {
    readonly status: Measurement;
    readonly hasRecord: boolean | null;
    /** From the policy file; null if it was not available. */
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
    /** OpenSSL's code; `issue` is the same for owners. */
    readonly problem: string | null;
    readonly validTo: string | null;
    readonly issue: TlsIssue | null;
    /** Less than a tenth of its lifetime is left, and less than 14 days. */
    readonly expiresSoon: boolean;
  };
  readonly hsts: {
    readonly status: Measurement;
    /** Seconds. */
    readonly maxAge: number | null;
    readonly includesSubdomains: boolean;
    readonly isPreload: boolean;
  };
  /** Of the home page; null if it was not observed. */
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
  /** 0–100, or null if SPF or DMARC, or more than 40 % of the points, could not be measured. */
  readonly score: number | null;
  readonly grade: 'A+' | 'A' | 'B' | 'C' | 'D' | 'F' | null;
  readonly coverage: number;
  readonly scoreVersion: string;
}
