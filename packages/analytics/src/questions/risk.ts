// The risk of one domain: its own security, and its dependence on few vendors. A list of factors, not only a number.
import { type Posture, ROLE_FACTS, type Role } from '@strata/detect';

export type RiskLevel = 'low' | 'medium' | 'high' | 'critical';

export interface RiskFactor {
  readonly factor: string;
  /** Share of the full profile; the weights of all factors, measured or not, add up to 1. */
  readonly weight: number;
  /** 0 (no risk) to 100; null if it could not be measured, which excludes it from the score. */
  readonly risk: number | null;
  readonly finding: string;
}

export interface RiskPart {
  /** 0–100; null if nothing was measured. */
  readonly score: number | null;
  readonly level: RiskLevel | null;
  readonly factors: readonly RiskFactor[];
}

export interface RiskProfile extends Omit<RiskPart, 'factors'> {
  readonly security: RiskPart;
  readonly vendorConcentration: RiskPart;
}

export interface RiskInput {
  readonly posture: Posture;
  readonly services: readonly { readonly role: Role; readonly provider: string; readonly isFirm: boolean }[];
  readonly ownerOf: (provider: string) => string;
  /** Open advisories of its products; null if no advisories are loaded. */
  readonly exposure: ExposureInput | null;
  /** HHI of a role's market over all domains, null if it is not reliable. */
  readonly hhiOf: (role: Role) => number | null;
}

/** Counts of advisories that affect its versions, and whether an exploited one possibly affects it. */
export interface ExposureInput {
  /** Whether it shows any product that advisories can name. */
  readonly hasProduct: boolean;
  readonly exploited: number;
  readonly critical: number;
  readonly high: number;
  readonly other: number;
  /** Exploited advisories of products whose version is unknown. */
  readonly possiblyExploited: number;
}

export function assessRisk(input: RiskInput): RiskProfile {
  const security = partOf([...securityFactors(input.posture), exposureFactor(input.exposure)]);
  const vendorConcentration = partOf(vendorFactors(input));
  const { score, level } = partOf([...security.factors, ...vendorConcentration.factors]);
  return { score, level, security, vendorConcentration };
}

/** low below 25, medium below 50, high below 75, critical from there. */
export function riskLevel(score: number): RiskLevel {
  if (score < 25) return 'low';
  if (score < 50) return 'medium';
  return score < 75 ? 'high' : 'critical';
}

function securityFactors(posture: Posture): RiskFactor[] {
  return [
    fromPosture(posture, {
      factor: 'email_authentication',
      weight: 0.25,
      parts: ['spf', 'dmarc'],
      what: 'SPF and DMARC',
    }),
    fromPosture(posture, {
      factor: 'email_transport',
      weight: 0.05,
      parts: ['mta_sts', 'tls_rpt'],
      what: 'MTA-STS and TLS-RPT',
    }),
    fromPosture(posture, { factor: 'web_encryption', weight: 0.12, parts: ['tls'], what: 'TLS' }),
    fromPosture(posture, { factor: 'dns_integrity', weight: 0.13, parts: ['dnssec', 'caa'], what: 'DNSSEC and CAA' }),
  ];
}

/** The most severe known finding decides: closed vulnerabilities do not offset an exploited one. */
function exposureFactor(exposure: ExposureInput | null): RiskFactor {
  const base = { factor: 'known_vulnerabilities', weight: 0.15 };
  if (!exposure) return { ...base, risk: null, finding: 'No source of advisories has been read.' };
  const { hasProduct, exploited, critical, high, other, possiblyExploited } = exposure;
  if (!hasProduct) return { ...base, risk: null, finding: 'It shows no product that advisories name.' };
  if (exploited > 0)
    return { ...base, risk: 100, finding: `Known to be exploited in the observed versions: ${exploited}.` };
  if (critical > 0) return { ...base, risk: 80, finding: `Critical in the observed versions: ${critical}.` };
  if (high > 0) return { ...base, risk: 60, finding: `High in the observed versions: ${high}.` };
  if (possiblyExploited > 0)
    return {
      ...base,
      risk: 50,
      finding: `Exploited in some version of what it uses, not known in which: ${possiblyExploited}.`,
    };
  if (other > 0) return { ...base, risk: 30, finding: `Medium, low or unrated in the observed versions: ${other}.` };
  return { ...base, risk: 0, finding: 'No advisory is known to affect the observed versions.' };
}

interface PostureRisk {
  readonly factor: string;
  readonly weight: number;
  readonly parts: readonly string[];
  readonly what: string;
}

/** The share of points that the posture lost, of those that could be measured. */
function fromPosture(posture: Posture, { factor, weight, parts, what }: PostureRisk): RiskFactor {
  const measured = posture.factors.filter((each) => parts.includes(each.factor) && each.finding !== 'unmeasured');
  const possible = measured.reduce((sum, each) => sum + each.possible, 0);
  if (possible === 0) return { factor, weight, risk: null, finding: `${what} could not be measured.` };
  const points = measured.reduce((sum, each) => sum + each.points, 0);
  const namesOf = (factors: typeof measured) =>
    factors.map((each) => each.factor.toUpperCase().replaceAll('_', '-')).join(', ');
  const weak = measured.filter(({ finding }) => finding !== 'pass');
  return {
    factor,
    weight,
    risk: Math.round(100 * (1 - points / possible)),
    finding: weak.length === 0 ? `In order: ${namesOf(measured)}.` : `Missing or weak: ${namesOf(weak)}.`,
  };
}

function vendorFactors({ services, ownerOf, hhiOf }: RiskInput): RiskFactor[] {
  const firm = services.filter(({ isFirm }) => isFirm);
  return [redundancy(firm, ownerOf), oneOwner(firm, ownerOf), crowdedMarkets(firm, hhiOf)];
}

type Firm = RiskInput['services'];

const isCritical = ({ role }: Firm[number]): boolean => ROLE_FACTS[role].isCritical === true;

/** Two name server operators survive the outage of one (Kashaf et al., IMC 2020, on third-party dependence). */
function redundancy(firm: Firm, ownerOf: RiskInput['ownerOf']): RiskFactor {
  const owners = new Set(firm.filter(({ role }) => role === 'dns').map(({ provider }) => ownerOf(provider)));
  const base = { factor: 'dns_redundancy', weight: 0.08 };
  if (owners.size === 0) return { ...base, risk: null, finding: 'No known provider serves the zone.' };
  return owners.size > 1
    ? { ...base, risk: 0, finding: `${owners.size} operators serve the zone.` }
    : { ...base, risk: 60, finding: `${[...owners][0]} alone serves the zone.` };
}

function oneOwner(firm: Firm, ownerOf: RiskInput['ownerOf']): RiskFactor {
  const base = { factor: 'single_owner', weight: 0.14 };
  const critical = firm.filter(isCritical);
  const roles = new Set(critical.map(({ role }) => role));
  if (roles.size < 2) return { ...base, risk: null, finding: 'Fewer than two critical roles have a known provider.' };
  const byOwner = new Map<string, Set<Role>>();
  for (const { provider, role } of critical) {
    const owner = ownerOf(provider);
    byOwner.set(owner, (byOwner.get(owner) ?? new Set()).add(role));
  }
  const [owner, held] = [...byOwner].sort(([a, x], [b, y]) => y.size - x.size || (a < b ? -1 : 1))[0] as [
    string,
    Set<Role>,
  ];
  const share = (held.size - 1) / (roles.size - 1);
  return {
    ...base,
    risk: Math.round(100 * share),
    finding: `${owner} holds ${held.size} of ${roles.size} critical roles.`,
  };
}

/** In a concentrated market one outage affects many, and there are few alternatives. */
function crowdedMarkets(firm: Firm, hhiOf: RiskInput['hhiOf']): RiskFactor {
  const base = { factor: 'market_concentration', weight: 0.08 };
  const roles = new Set(firm.filter(isCritical).map(({ role }) => role));
  const known = [...roles].flatMap((role) => {
    const hhi = hhiOf(role);
    return hhi === null ? [] : [{ role, hhi }];
  });
  if (known.length === 0)
    return { ...base, risk: null, finding: 'No market of its critical roles is known well enough.' };
  const mean = known.reduce((sum, { hhi }) => sum + hhi, 0) / known.length;
  const worst = known.reduce((a, b) => (b.hhi > a.hhi ? b : a));
  return {
    ...base,
    // 1,800, where high concentration begins, is 36; 5,000, as of two equal firms, is the maximum of 100.
    risk: Math.round(Math.min(100, mean / 50)),
    finding: `Mean HHI of its markets ${Math.round(mean)}; highest: ${worst.role}, ${Math.round(worst.hhi)}.`,
  };
}

function partOf(factors: readonly RiskFactor[]): RiskPart {
  const measured = factors.filter(({ risk }) => risk !== null);
  const weight = measured.reduce((sum, factor) => sum + factor.weight, 0);
  if (weight === 0) return { score: null, level: null, factors };
  const score = Math.round(measured.reduce((sum, factor) => sum + factor.weight * (factor.risk ?? 0), 0) / weight);
  return { score, level: riskLevel(score), factors };
}
