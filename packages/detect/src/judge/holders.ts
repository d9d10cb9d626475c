// The holder of the main role of each category, for counting shares: a known provider, the domain itself, an unknown party, or nobody.

import type { Reading } from '../evidence/reading.ts';
import { isWithin } from '../names/names.ts';
import type { Measurement } from '../posture/posture-type.ts';
import { byMainRole, HOLDERS, type Holder, MAIN_ROLES, type MainRole, type Role, type Service } from '../profile.ts';

/** Five values fit in three bits and ten categories in thirty: one integer for a database or a typed array. */
const BITS = 3;

export function holdersOf(
  reading: Reading,
  services: readonly Service[],
  roles: Readonly<Record<Role, Measurement>>,
): Readonly<Record<MainRole, Holder>> {
  // Shares count services of high and medium confidence only.
  const isHeld = (role: MainRole) => services.some((service) => service.role === role && service.confidence !== 'low');
  return byMainRole((role) => {
    if (isHeld(role)) return 'provider';
    if (reading.existence === 'nonexistent') return 'nobody';
    if (reading.existence === 'unmeasured') return 'unmeasured';
    const measured = roles[role];
    // Hidden behind a gateway or an edge: there is a holder.
    if (measured === 'blocked') return role === 'mailbox' || role === 'origin' ? 'unknown' : 'unmeasured';
    if (measured === 'unmeasured') return 'unmeasured';
    return withoutProvider(role, reading);
  });
}

function withoutProvider(role: MainRole, { evidence, exchanges, mail, hasNoWeb }: Reading): Holder {
  const isOwn = (host: string) => isWithin(host, evidence.domain);
  switch (role) {
    case 'dns': {
      const { records } = evidence.dns.ns;
      if (records.length === 0) return 'unknown';
      return records.every(isOwn) ? 'self' : 'unknown';
    }
    case 'mailbox': {
      if (mail === 'none') return 'nobody';
      const preferred = exchanges.filter(({ isPreferred }) => isPreferred);
      return preferred.length > 0 && preferred.every(({ host }) => isOwn(host)) ? 'self' : 'unknown';
    }
    case 'origin':
      return hasNoWeb ? 'nobody' : 'unknown';
    case 'issuer':
      return evidence.tls.status === 'found' ? 'unknown' : 'nobody';
    default:
      // Roles that are sets: not observed means not used.
      return 'nobody';
  }
}

/** Three bits for each main role, in the order of `ROLES`. */
export function packHolders(holders: Readonly<Record<MainRole, Holder>>): number {
  return MAIN_ROLES.reduce((bits, role, i) => bits | (HOLDERS.indexOf(holders[role]) << (i * BITS)), 0);
}

/** The inverse of `packHolders`. */
export function unpackHolders(bits: number): Readonly<Record<MainRole, Holder>> {
  const mask = (1 << BITS) - 1;
  return byMainRole((role) => HOLDERS[(bits >>> (MAIN_ROLES.indexOf(role) * BITS)) & mask] ?? 'unmeasured');
}
