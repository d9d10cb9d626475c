// Display names and owners of providers.
import type { Kind, Rulebook } from '@strata/detect';

export interface KnownNames {
  /** Display name; the id for a provider that was removed from the rulebook. */
  nameOf(id: string): string;
  /** The company that owns the brand. */
  ownerOf(id: string): string;
  /** Its kinds, most characteristic first. */
  kindsOf(id: string): readonly Kind[];
}

export function knownNames({ providers }: Pick<Rulebook, 'providers'>): KnownNames {
  return {
    nameOf: (id) => providers.get(id)?.name ?? id,
    ownerOf: (id) => {
      const entry = providers.get(id);
      return entry?.owner ?? entry?.name ?? id;
    },
    kindsOf: (id) => providers.get(id)?.kinds ?? [],
  };
}
