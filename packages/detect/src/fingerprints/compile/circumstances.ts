// The sources that decide, in addition to a technology's own patterns, whether it is detected: those of everything that
// it requires and of everything that excludes it. Without a measurement of one of them the result is undecided.

import { SOURCES, type Source } from '../../profile.ts';
import type { Provider } from '../../rulebook/catalog.ts';
import { patternsOf, SOURCE_OF } from '../../rulebook/patterns.ts';
import type { SetProvider } from './channels.ts';

/** A technology; its relations name provider ids. */
export interface RelatedTechnology extends SetProvider {
  /**
   * One of these providers, or one of one of the categories, must be detected too; nothing is required if both are
   * empty.
   */
  readonly requires: readonly string[];
  readonly requiresCategory: readonly number[];
  /** It requires technologies and none of them is known: it is never detected. */
  readonly isStranded: boolean;
  readonly excludes: readonly string[];
}

/** What a set defines for a provider, over all its technologies. */
export interface CompiledProvider extends SetProvider {
  readonly categories: ReadonlySet<number>;
  readonly implies: readonly { readonly provider: string; readonly confidence: number }[];
}

/** The deciding sources of one technology. */
export interface Circumstances {
  /** Sources that can show what it requires, or that decide whether that is detected. */
  readonly required: ReadonlySet<Source>;
  /** Sources that can show what excludes it, or that decide whether that is detected. */
  readonly excluding: ReadonlySet<Source>;
}

interface Sourced {
  readonly technology: RelatedTechnology;
  /** Sources of its own patterns. */
  readonly sources: Iterable<Source>;
}

/** A set of sources as bits, in the order of SOURCES. */
type Bits = number;

/** Circumstances of every technology, in the order of the set. Time is proportional to the number of relations. */
export function circumstancesOf(
  technologies: readonly Sourced[],
  {
    providers,
    catalog,
  }: { readonly providers: ReadonlyMap<string, CompiledProvider>; readonly catalog: readonly Provider[] },
): readonly Circumstances[] {
  const graph = new Graph();
  for (const { rules, id } of catalog) {
    for (const { channel } of rules.flatMap(patternsOf)) graph.add(`p ${id}`, SOURCE_OF[channel]);
  }
  for (const [i, { technology, sources }] of technologies.entries()) {
    const { provider, excludes } = technology;
    graph.link(`p ${provider.id}`, `t ${i}`);
    for (const source of sources) graph.add(`t ${i}`, source);
    for (const excluded of excludes) {
      if (excluded !== provider.id) graph.link(`x ${excluded}`, `t ${i}`);
    }
  }
  for (const [id, { implies, categories }] of providers) {
    for (const category of categories) graph.link(`c ${category}`, `p ${id}`);
    for (const { provider } of implies) graph.link(`p ${provider}`, `p ${id}`);
  }
  const needs = technologies.map(({ technology: { provider, requires, requiresCategory } }) => ({
    required: [...requires.map((id) => `p ${id}`), ...requiresCategory.map((id) => `c ${id}`)],
    excluding: [`x ${provider.id}`],
  }));
  for (const [i, { required, excluding }] of needs.entries()) {
    for (const other of [...required, ...excluding]) graph.link(`t ${i}`, other);
  }
  graph.settle();
  return needs.map(({ required, excluding }) => ({
    required: graph.sourcesOf(required),
    excluding: graph.sourcesOf(excluding),
  }));
}

/**
 * The dependencies between technologies (`t`), providers (`p`), categories (`c`), and what excludes a provider (`x`).
 * A source that is added to a node reaches all nodes that depend on it.
 */
class Graph {
  readonly #bits = new Map<string, Bits>();
  readonly #dependents = new Map<string, string[]>();
  readonly #known = new Map<Bits, ReadonlySet<Source>>();

  add(node: string, source: Source): void {
    this.#bits.set(node, (this.#bits.get(node) ?? 0) | (1 << SOURCES.indexOf(source)));
  }

  /** `node` depends on `other`. */
  link(node: string, other: string): void {
    const known = this.#dependents.get(other);
    if (known) known.push(node);
    else this.#dependents.set(other, [node]);
  }

  /** Propagates sources. A node is visited again only when it gains a source, so cycles end. */
  settle(): void {
    const waiting = [...this.#bits.keys()];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      const bits = this.#bits.get(node) ?? 0;
      for (const dependent of this.#dependents.get(node) ?? []) {
        const before = this.#bits.get(dependent) ?? 0;
        if ((before | bits) === before) continue;
        this.#bits.set(dependent, before | bits);
        waiting.push(dependent);
      }
    }
  }

  /** Equal sets of sources share one object. */
  sourcesOf(nodes: readonly string[]): ReadonlySet<Source> {
    let bits = 0;
    for (const node of nodes) bits |= this.#bits.get(node) ?? 0;
    const known = this.#known.get(bits) ?? new Set(SOURCES.filter((_, i) => (bits & (1 << i)) !== 0));
    this.#known.set(bits, known);
    return known;
  }
}
