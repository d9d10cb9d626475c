// Display names, owners and roles of providers.
import { type Category, type Kind, mainRoleOf, type Role, type Rulebook } from '@strata/detect';

export interface KnownNames {
  /** Display name; the id for a provider that was removed from the rulebook. */
  nameOf(id: string): string;
  /** The company that owns the brand. */
  ownerOf(id: string): string;
  /** Its kinds, most characteristic first. */
  kindsOf(id: string): readonly Kind[];
  /** By the present rulebook, whatever was stored; the stored role, if known, for a provider that was removed from it. */
  roleOf(category: Category, provider: string, stored?: Role): Role;
}

export function knownNames({ providers, roleOf }: Pick<Rulebook, 'providers' | 'roleOf'>): KnownNames {
  return {
    nameOf: (id) => providers.get(id)?.name ?? id,
    ownerOf: (id) => {
      const entry = providers.get(id);
      return entry?.owner ?? entry?.name ?? id;
    },
    kindsOf: (id) => providers.get(id)?.kinds ?? [],
    roleOf: (category, id, stored) => roleOf(category, id) ?? stored ?? mainRoleOf(category),
  };
}
