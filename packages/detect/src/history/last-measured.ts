// The last measured values in place of what a scan could not measure, so that a failed look-up hides nothing that is
// known.
import { unpackHolders } from '../judge/holders.ts';
import type { FactorName, Posture, PostureFactor } from '../posture/posture-type.ts';
import { type PostureParts, scoreOf } from '../posture/score/score.ts';
import { byMainRole, byRole, type Profile, ROLE_LIST, type Role } from '../profile.ts';

/** When each value that the last scan could not measure was measured: ISO 8601 by role, and by part of the posture. */
export interface StaleValues {
  readonly roles: Readonly<Partial<Record<Role, string>>>;
  readonly security: Readonly<Partial<Record<FactorName, string>>>;
}

/** What the scan before published; `observedAt` is its time. */
export interface LastMeasured extends Pick<Profile, 'state' | 'roles' | 'security'> {
  readonly observedAt: string;
  readonly holderBits: number;
  readonly stale?: StaleValues;
}

type Part = keyof PostureParts;
const PARTS: Readonly<Record<FactorName, Part>> = {
  spf: 'spf',
  dmarc: 'dmarc',
  dkim: 'dkim',
  dnssec: 'dnssec',
  caa: 'caa',
  mta_sts: 'mtaSts',
  tls_rpt: 'tlsRpt',
  bimi: 'bimi',
  tls: 'tls',
  hsts: 'hsts',
  headers: 'headers',
  security_txt: 'securityTxt',
};

/**
 * The profile to publish, and which of its values are of an earlier scan. A domain that has begun or ceased to be parked
 * or to exist has no earlier value. `beforeOf` is called only if something was not measured.
 */
export function withLastMeasured(
  profile: Profile,
  beforeOf: () => LastMeasured | undefined,
): { readonly profile: Profile; readonly stale?: StaleValues } {
  if (isComplete(profile)) return { profile };
  const before = beforeOf();
  if (profile.state !== before?.state) return { profile };
  const roles: Partial<Record<Role, string>> = {};
  for (const role of ROLE_LIST)
    if (profile.roles[role] === 'unmeasured' && before.roles[role] !== 'unmeasured')
      roles[role] = before.stale?.roles[role] ?? before.observedAt;
  const holders = unpackHolders(before.holderBits);
  const { security, stale } = withLastPosture(profile.security, before);
  if (Object.keys(roles).length + Object.keys(stale).length === 0) return { profile };
  return {
    profile: {
      ...profile,
      roles: byRole((role) => (roles[role] === undefined ? profile.roles : before.roles)[role]),
      holders: byMainRole((role) => (roles[role] === undefined ? profile.holders : holders)[role]),
      security,
    },
    stale: { roles, security: stale },
  };
}

function isComplete({ roles, security }: Profile): boolean {
  return (
    ROLE_LIST.every((role) => roles[role] !== 'unmeasured') &&
    Object.values(PARTS).every((part) => security[part].status !== 'unmeasured') &&
    security.factors.every(({ finding }) => finding !== 'unmeasured')
  );
}

function withLastPosture(
  security: Posture,
  before: LastMeasured,
): { readonly security: Posture; readonly stale: StaleValues['security'] } {
  const stale: Partial<Record<FactorName, string>> = {};
  const parts: Partial<PostureParts> = {};
  const last = new Map(before.security.factors.map((factor) => [factor.factor, factor]));
  const isSameScore = before.security.scoreVersion === security.scoreVersion && last.size > 0;
  const measuredAt = (factor: FactorName) => before.stale?.security[factor] ?? before.observedAt;
  for (const [factor, part] of Object.entries(PARTS) as [FactorName, Part][]) {
    if (!isLost(part, security, before.security)) continue;
    stale[factor] = measuredAt(factor);
    Object.assign(parts, { [part]: before.security[part] });
  }
  const factors = security.factors.flatMap((factor): PostureFactor[] => {
    if (factor.finding !== 'unmeasured' || !isSameScore) return [factor];
    const part = PARTS[factor.factor];
    if (stale[factor.factor] === undefined && !isEqual(security[part], before.security[part])) return [factor];
    // Without an answer for the mail exchanges, the scan before knows which factors apply.
    const earlier = last.get(factor.factor);
    return earlier ? [earlier] : [];
  });
  return { security: { ...security, ...parts, ...scoreOf(factors) }, stale };
}

/** A part as restored from the store has the keys of a fresh one, in the same order. */
const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Whether the scan before measured this part of the posture, and this scan did not. */
function isLost(part: Part, now: Posture, before: Posture): boolean {
  if (before[part].status === 'unmeasured') return false;
  if (now[part].status === 'unmeasured') return true;
  switch (part) {
    case 'spf':
      return now.spf.evaluation === 'unknown' && now.spf.record === before.spf.record;
    case 'mtaSts': {
      // RFC 8461 §5.1: senders keep the policy while its file is unavailable. Exchanges may be missing too.
      const isJudged = now.factors.some(({ factor, finding }) => factor === 'mta_sts' && finding !== 'unmeasured');
      return !isJudged && now.mtaSts.hasRecord === true && now.mtaSts.problem === null && before.mtaSts.mode !== null;
    }
    default:
      return false;
  }
}

/** Everything that the last scan measured, once later scans could not resolve the domain. */
export function allStale(
  { roles, security, stale }: Pick<LastMeasured, 'roles' | 'security' | 'stale'>,
  measuredAt: string,
): StaleValues {
  const measured = ROLE_LIST.filter((role) => roles[role] !== 'unmeasured');
  const factors = Object.keys(PARTS) as FactorName[];
  return {
    roles: { ...Object.fromEntries(measured.map((role) => [role, measuredAt])), ...stale?.roles },
    security: {
      ...Object.fromEntries(
        factors
          .filter((factor) => security[PARTS[factor]].status !== 'unmeasured')
          .map((factor) => [factor, measuredAt]),
      ),
      ...stale?.security,
    },
  };
}
