// A set and the catalog, compiled for matching: whose each technology is, where its patterns are looked up, what it needs.

import { ROLES, type Role, type Source } from '../../profile.ts';
import type { Provider } from '../../rulebook/catalog.ts';
import { EngineMemory } from '../pattern/engine-memory.ts';
import type { FingerprintSet, FingerprintTechnology } from '../read/fingerprint-set.ts';
import { readingsOf, ruleOfPattern, type SetProvider } from './channels.ts';
import { type Circumstances, type CompiledProvider, circumstancesOf, type RelatedTechnology } from './circumstances.ts';
import type { Merge } from './known-providers.ts';
import { type OwnedPattern, PatternIndex } from './pattern-index.ts';
import { type KnownNames, providersOf } from './set-providers.ts';

export interface CompiledTechnology extends RelatedTechnology {
  readonly circumstances: Circumstances;
}

export interface CompiledSets {
  readonly technologies: readonly CompiledTechnology[];
  readonly providers: ReadonlyMap<string, CompiledProvider>;
  readonly patterns: PatternIndex;
  /** The one part that changes, and nothing that is found depends on it. */
  readonly memory: EngineMemory;
  /** Providers that the catalog does not have. */
  readonly added: readonly Provider[];
  /** Technologies that are providers of the catalog. */
  readonly merges: readonly Merge[];
  /** Names in `implies`, `requires` and `excludes` that neither the set nor the catalog knows. */
  readonly unresolved: readonly string[];
  /** A pattern reads the page's source: the probe must keep it. */
  readonly needsSource: boolean;
  /** Where a role's evidence can come from under this set. */
  readonly sources: readonly (readonly [Role, Source])[];
  /** One line a technology, for the rulebook's version. */
  readonly lines: readonly string[];
}

/** Compiles a set; pure, milliseconds a thousand technologies. */
export function compileSets(set: FingerprintSet, catalog: readonly Provider[]): CompiledSets {
  const { of, added, merges, names } = providersOf(set, catalog);
  const owned: OwnedPattern[] = [];
  const sources = new Map<string, readonly [Role, Source]>();
  const sourcesByOwner = set.technologies.map(() => new Set<Source>());
  for (const [owner, technology] of set.technologies.entries()) {
    for (const pattern of technology.patterns) {
      owned.push({ pattern, owner });
      for (const reading of readingsOf(pattern)) {
        const { category, source } = ruleOfPattern(at(of, owner), pattern, reading);
        sources.set(`${category} ${source}`, [ROLES[category], source]);
        sourcesByOwner[owner]?.add(source);
      }
    }
  }
  const patterns = new PatternIndex(owned);
  const providers = compileProviders(set.technologies, of, names);
  const related = set.technologies.map((technology, i) => compileTechnology(technology, at(of, i), names));
  const circumstances = circumstancesOf(
    related.map((technology, i) => ({ technology, sources: sourcesByOwner[i] ?? [] })),
    { providers, catalog },
  );
  return {
    technologies: related.map((technology, i) => ({ ...technology, circumstances: at(circumstances, i) })),
    providers,
    patterns,
    memory: new EngineMemory(),
    added,
    merges,
    unresolved: [...names.unresolved],
    needsSource: patterns.has('html') || patterns.has('text'),
    sources: [...sources.values()],
    lines: set.technologies.map((technology, i) => lineOf(technology, at(related, i), names)),
  };
}

function compileTechnology(
  { requires, requiresCategory, excludes }: FingerprintTechnology,
  of: SetProvider,
  names: KnownNames,
): RelatedTechnology {
  const found = requires.flatMap((name) => names.idOf(name) ?? []);
  return {
    ...of,
    requires: found,
    requiresCategory,
    isStranded: requires.length > 0 && found.length === 0 && requiresCategory.length === 0,
    excludes: excludes.flatMap((name) => names.idOf(name) ?? []),
  };
}

function compileProviders(
  technologies: readonly FingerprintTechnology[],
  of: readonly SetProvider[],
  names: KnownNames,
): ReadonlyMap<string, CompiledProvider> {
  const providers = new Map<
    string,
    SetProvider & { categories: Set<number>; implies: { provider: string; confidence: number }[] }
  >();
  for (const [i, { categories, implies }] of technologies.entries()) {
    const own = at(of, i);
    const { id } = own.provider;
    const known = providers.get(id) ?? { ...own, categories: new Set(), implies: [] };
    providers.set(id, known);
    for (const category of categories) known.categories.add(category);
    for (const { name, confidence } of implies) {
      const provider = names.idOf(name);
      if (provider !== null && provider !== id) known.implies.push({ provider, confidence });
    }
  }
  // Implied by name, known to the catalog alone.
  for (const { provider } of [...providers.values()].flatMap(({ implies }) => implies)) {
    const own = names.inCatalog(provider);
    if (own && !providers.has(provider)) providers.set(provider, { ...own, categories: new Set(), implies: [] });
  }
  return providers;
}

/**
 * Everything by which a technology can be found: a change of any of it is another rulebook, as is a name of it that now
 * means another provider, or a category that now means something else.
 */
function lineOf(
  { patterns, implies, requires: required, categories }: FingerprintTechnology,
  { provider, category, isMailSecurity, requires, requiresCategory, excludes }: RelatedTechnology,
  names: KnownNames,
): string {
  const shown = patterns.map(({ field, key, expression, confidence, version }) => [
    ...[field, key, expression, confidence, version],
  ]);
  const implied = implies.map(({ name, confidence }) => [names.idOf(name), confidence]);
  const related = [implied, required.length, requires, requiresCategory, excludes];
  return `set ${JSON.stringify([provider.id, category, isMailSecurity, categories, shown, related])}`;
}

function at<T>(list: readonly T[], i: number): T {
  const item = list[i];
  if (item === undefined) throw new Error('a list that is shorter than the set');
  return item;
}
