// The columns of a table of domains that show the providers by role.
import type { DomainRow } from '@strata/analytics';
import { MAIN_ROLES, ROLE_LIST, type Role } from '@strata/detect';
import type { KnownNames } from '../../index/known-names.ts';

/** The main role of each category, which tables had first; later roles are the last columns. */
export const FIRST_ROLES: readonly Role[] = MAIN_ROLES;
export const MORE_ROLES: readonly Role[] = ROLE_LIST.filter((role) => !FIRST_ROLES.includes(role));

export const roleColumns = (roles: readonly Role[]) =>
  roles.map((role) => ({
    name: role,
    description: `Ids of the providers in the role ${role} with high or medium confidence, separated by semicolons.`,
  }));

/** Cells in the order of the roles. */
export function roleCells(
  row: Pick<DomainRow, 'services'>,
  roles: readonly Role[],
  names: Pick<KnownNames, 'roleOf'>,
): string[] {
  const services = row.services.filter(([, , confidence]) => confidence !== 'low');
  return roles.map((role) =>
    services
      .filter(([category, provider]) => names.roleOf(category, provider) === role)
      .map(([, provider]) => provider)
      .join(';'),
  );
}
