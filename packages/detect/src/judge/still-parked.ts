// A parked domain whose page, name servers or exchanges are unavailable looks like one in use.

import type { Measurement } from '../posture/posture-type.ts';
import { type Profile, ROLE_LIST, type Role } from '../profile.ts';

/**
 * The profile; reduced to parking if the domain was parked and the sources that showed it were not available this time.
 */
export function stillParked(
  profile: Profile,
  before: { readonly state: string | null; readonly rulebook: string | null },
): Profile {
  const isSure = [profile.sources.html, profile.sources.ns, profile.sources.mx].every(
    (measurement) => measurement === 'observed' || measurement === 'absent',
  );
  if (before.state !== 'parked' || before.rulebook !== profile.rulebook || profile.state !== 'active' || isSure)
    return profile;
  const roles = Object.fromEntries(
    ROLE_LIST.map((role): [Role, Measurement] => [role, role === 'dns' ? profile.roles.dns : 'unmeasured']),
  ) as Profile['roles'];
  return { ...profile, state: 'parked', services: profile.services.filter(({ role }) => role === 'dns'), roles };
}
