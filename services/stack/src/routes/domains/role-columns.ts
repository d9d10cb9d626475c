// The columns of a table of domains that show the providers by role.
import { ROLE_LIST } from '@strata/detect';
import type { StackApp } from '../../context.ts';

export const ROLE_COLUMNS = ROLE_LIST.map((role) => ({
  name: role,
  description: `Ids of the providers in the role ${role} with high or medium confidence, separated by semicolons.`,
}));

/** Cells in the order of `ROLE_COLUMNS`. */
export function roleCells({ index, names }: Pick<StackApp, 'index' | 'names'>, domain: number): string[] {
  const services = index.services(domain).filter(([, , confidence]) => confidence !== 'low');
  return ROLE_LIST.map((role) =>
    services
      .filter(([category, provider]) => names.roleOf(category, provider) === role)
      .map(([, provider]) => provider)
      .join(';'),
  );
}
