// Postures that were stored by earlier versions of the score -> the present shape. What they did not measure is unmeasured.
import type { Posture } from './posture-type.ts';
import { SCORE_VERSION } from './score.ts';

const UNMEASURED: Posture = {
  spf: {
    status: 'unmeasured',
    record: null,
    all: null,
    result: 'unmeasured',
    evaluation: 'unmeasured',
    effectiveAll: null,
    isOpen: false,
    lookups: 0,
    voids: 0,
    authorizedIpv4: 0,
    isDynamic: false,
    problems: [],
    senders: [],
  },
  dmarc: {
    status: 'unmeasured',
    record: null,
    foundAt: null,
    policy: null,
    effectivePolicy: null,
    subdomainPolicy: null,
    effectiveSubdomainPolicy: null,
    nonexistentPolicy: null,
    effectiveNonexistentPolicy: null,
    isTesting: false,
    hasReporting: false,
    reporting: 'unknown',
    refusingHosts: [],
    problems: [],
  },
  dkim: { status: 'unmeasured', selectors: [], keys: [] },
  dnssec: { status: 'unmeasured', isSigned: null, algorithms: [], isWeak: null, validation: 'unknown' },
  caa: {
    status: 'unmeasured',
    issuers: [],
    wildcardIssuers: [],
    isRestricted: false,
    hasIncidentContact: false,
    unknownCritical: [],
    permitsIssuer: null,
  },
  mtaSts: { status: 'unmeasured', hasRecord: null, mode: null, maxAge: null, problem: null },
  tlsRpt: { status: 'unmeasured', hasRecord: null, hasAddress: null },
  bimi: { status: 'unmeasured', hasRecord: null, hasLogo: null, hasCertificate: null, isEligible: null },
  tls: {
    status: 'unmeasured',
    protocol: null,
    isTrusted: null,
    problem: null,
    validTo: null,
    issue: null,
    expiresSoon: false,
  },
  hsts: { status: 'unmeasured', maxAge: null, includesSubdomains: false, isPreload: false },
  headers: {
    status: 'unmeasured',
    csp: null,
    isSniffingOff: null,
    isFramingLimited: null,
    isReferrerCareful: null,
    hasPermissionsPolicy: null,
  },
  securityTxt: { status: 'unmeasured', expires: null, isSigned: false, problem: null },
  factors: [],
  score: null,
  grade: null,
  coverage: 0,
  scoreVersion: '',
};

type Earlier = {
  readonly [Part in keyof Posture]?: Posture[Part] extends readonly unknown[] ? Posture[Part] : Partial<Posture[Part]>;
};

/** A stored posture, whole. Its score stays what it was, under the version that made it. */
export function upgradePosture(stored: Posture | Earlier): Posture {
  if (isPresent(stored)) return stored;
  const parts = Object.entries(UNMEASURED).map(([part, blank]) => {
    const known = stored[part as keyof Posture];
    const isRecord = typeof blank === 'object' && blank !== null && !Array.isArray(blank);
    return [part, isRecord ? { ...blank, ...(known as object | undefined) } : (known ?? blank)];
  });
  const posture = Object.fromEntries(parts) as Posture;
  const factors = posture.factors.map((factor) => ({
    ...factor,
    weight: factor.weight ?? factor.possible,
    issues: factor.issues ?? [],
  }));
  return { ...posture, factors };
}

function isPresent(stored: Posture | Earlier): stored is Posture {
  return stored.scoreVersion === SCORE_VERSION;
}
