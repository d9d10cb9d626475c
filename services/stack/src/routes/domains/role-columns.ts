// The columns of a table of domains that show the providers by role.
import type { DomainIndex } from '@strata/analytics';
import { ROLE_LIST, ROLES } from '@strata/detect';

export const ROLE_COLUMNS = ROLE_LIST.map((role) => ({
  name: role,
  description: `Ids of the providers in the role ${role} with high or medium confidence, separated by semicolons.`,
}));

/** Cells in the order of `ROLE_COLUMNS`. */
export function roleCells(index: DomainIndex, domain: number): string[] {
  const services = index.services(domain).filter(([, , confidence]) => confidence !== 'low');
  return ROLE_LIST.map((role) =>
    services
      .filter(([category]) => ROLES[category] === role)
      .map(([, provider]) => provider)
      .join(';'),
  );
}
