// The stored form of a posture: default values are left out, which are most values for most domains. Standards that an
// earlier version did not measure are unmeasured.
import type { Posture, PostureFactor } from './posture-type.ts';

const UNMEASURED: Posture = {
  spf: {
    status: 'unmeasured',
    record: null,
    all: null,
    result: 'unmeasured',
    evaluation: 'unmeasured',
    effectiveAll: null,
    isOpen: false,
    isPermitting: false,
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
    isInherited: false,
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
  tlsRpt: { status: 'unmeasured', hasRecord: null, hasAddress: null, problem: null },
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

type Part = Exclude<keyof Posture, 'factors' | 'score' | 'grade' | 'coverage' | 'scoreVersion'>;
const PARTS = Object.keys(UNMEASURED).filter((key) => isRecord(UNMEASURED[key as keyof Posture])) as readonly Part[];

/** A posture without default values; earlier versions stored complete postures, which are valid too. */
export type StoredPosture = Pick<Posture, 'score' | 'grade' | 'coverage' | 'scoreVersion'> & {
  readonly [Each in Part]?: Partial<Posture[Each]>;
} & { readonly factors: readonly (Omit<PostureFactor, 'weight' | 'issues'> & Partial<PostureFactor>)[] };

/** The shortest form that can be restored. */
export function shortenPosture(posture: Posture): StoredPosture {
  const parts = PARTS.map((part) => {
    const blank = new Map<string, unknown>(Object.entries(UNMEASURED[part]));
    const stored = Object.entries(posture[part]).filter(([key, value]) => !isSame(value, blank.get(key)));
    return [part, Object.fromEntries(stored)];
  });
  const { factors, score, grade, coverage, scoreVersion } = posture;
  return {
    ...Object.fromEntries(parts),
    factors: factors.map(({ weight, issues, ...factor }) => ({
      ...factor,
      ...(weight === factor.possible ? {} : { weight }),
      ...(issues.length === 0 ? {} : { issues }),
    })),
    score,
    grade,
    coverage,
    scoreVersion,
  };
}

/** The complete posture. One of an earlier version keeps its score and that version. */
export function restorePosture(stored: StoredPosture): Posture {
  const parts = PARTS.map((part) => [part, { ...UNMEASURED[part], ...stored[part] }]);
  const { factors, score, grade, coverage, scoreVersion } = stored;
  return {
    ...UNMEASURED,
    ...Object.fromEntries(parts),
    factors: factors.map((factor) => ({
      ...factor,
      weight: factor.weight ?? factor.possible,
      issues: factor.issues ?? [],
    })),
    score,
    grade,
    coverage,
    scoreVersion,
  };
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For values that mean nothing: null, false, a string, and an empty list. */
function isSame(value: unknown, blank: unknown): boolean {
  return value === blank || (Array.isArray(value) && Array.isArray(blank) && value.length === 0);
}
