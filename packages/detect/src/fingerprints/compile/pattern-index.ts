// Selects the patterns that are worth running on a text: by field and name, then by the literals that they require.
import type { FieldPattern } from '../read/fingerprint-set.ts';
import { LiteralIndex } from './literal-index.ts';

/** So few patterns run faster than a query of the index. */
const FEW = 4;

/** A pattern and the index of its technology in the set. */
export interface OwnedPattern {
  readonly pattern: FieldPattern;
  readonly owner: number;
}

interface Haystack {
  readonly always: readonly OwnedPattern[];
  readonly byLiteral: LiteralIndex<OwnedPattern> | null;
}

const NONE: Haystack = { always: [], byLiteral: null };

/** Immutable. */
export class PatternIndex {
  readonly #haystacks: ReadonlyMap<string, Haystack>;

  constructor(patterns: Iterable<OwnedPattern>) {
    const groups = new Map<string, OwnedPattern[]>();
    for (const owned of patterns) {
      const name = nameOf(owned.pattern.field, owned.pattern.key);
      const group = groups.get(name);
      if (group) group.push(owned);
      else groups.set(name, [owned]);
    }
    this.#haystacks = new Map([...groups].map(([name, group]) => [name, haystackOf(group)]));
  }

  has(field: FieldPattern['field'], key = ''): boolean {
    return this.#haystacks.has(nameOf(field, key));
  }

  /** The patterns of a field, and of one name in it, that may match `text`. */
  candidates(field: FieldPattern['field'], key: string, text: string): Iterable<OwnedPattern> {
    const { always, byLiteral } = this.#haystacks.get(nameOf(field, key)) ?? NONE;
    return byLiteral === null ? always : [...always, ...byLiteral.find(text)];
  }
}

/** Sets do not agree on the case of cookie names. */
function nameOf(field: FieldPattern['field'], key: string): string {
  return `${field} ${field === 'cookies' ? key.toLowerCase() : key}`;
}

function haystackOf(group: readonly OwnedPattern[]): Haystack {
  const withLiterals = group.filter(({ pattern }) => pattern.regex?.literals);
  if (withLiterals.length <= FEW) return { always: group, byLiteral: null };
  const literals = withLiterals.flatMap((owned) =>
    (owned.pattern.regex?.literals ?? []).map((literal) => [literal, owned] as const),
  );
  return {
    always: group.filter(({ pattern }) => !pattern.regex?.literals),
    byLiteral: new LiteralIndex(literals),
  };
}
