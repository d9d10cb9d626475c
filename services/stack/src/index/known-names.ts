// The names and owners of providers, as answers show them.
import type { Kind, Rulebook } from '@strata/detect';

export interface KnownNames {
  /** Display name; a provider that has left the rulebook keeps its id. */
  nameOf(id: string): string;
  /** The firm behind a brand. */
  ownerOf(id: string): string;
  /** What it is, the most characteristic first. */
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
