// Compiles a set together with the catalog for matching: the provider of each technology, its pattern index, its
// relations.

import type { Role, Source } from '../../profile.ts';
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
  /** The only mutable part; results do not depend on it. */
  readonly memory: EngineMemory;
  readonly added: readonly Provider[];
  /** Technologies that are identified with providers of the catalog. */
  readonly merges: readonly Merge[];
  /** Names in `implies`, `requires` and `excludes` that neither the set nor the catalog knows. */
  readonly unresolved: readonly string[];
  /** A pattern matches against the page's source, so the probe must keep it. */
  readonly needsSource: boolean;
  /** The sources that can provide evidence of a role under this set. */
  readonly sources: readonly (readonly [Role, Source])[];
  /** One line for each technology; part of the rulebook's version. */
  readonly lines: readonly string[];
}

/** Compiles a set. Pure; milliseconds per thousand technologies. */
export function compileSets(set: FingerprintSet, catalog: readonly Provider[]): CompiledSets {
  const { of, added, merges, names } = providersOf(set, catalog);
  const owned: OwnedPattern[] = [];
  const sources = new Map<string, readonly [Role, Source]>();
  const sourcesByOwner = set.technologies.map(() => new Set<Source>());
  for (const [owner, technology] of set.technologies.entries()) {
    for (const pattern of technology.patterns) {
      owned.push({ pattern, owner });
      for (const reading of readingsOf(pattern)) {
        const { role, source } = ruleOfPattern(at(of, owner), pattern, reading);
        sources.set(`${role} ${source}`, [role, source]);
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
  // Implied by name, and only in the catalog.
  for (const { provider } of [...providers.values()].flatMap(({ implies }) => implies)) {
    const own = names.inCatalog(provider);
    if (own && !providers.has(provider)) providers.set(provider, { ...own, categories: new Set(), implies: [] });
  }
  return providers;
}

/**
 * Everything that determines whether a technology is detected. A change of any of it makes another rulebook, including a
 * name that now refers to another provider and a category with a new meaning.
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
  if (item === undefined) throw new Error('a list is shorter than the set');
  return item;
}
