// `requires`, `implies` and `excludes` of community sets: which detected technologies are accepted, and what they
// imply.
import type { Finding } from '../../match/finding.ts';
import type { Source } from '../../profile.ts';
import type { CompiledSets, CompiledTechnology } from '../compile/compile-sets.ts';

/** A required technology may itself require one, to this depth. */
const MAX_ROUNDS = 8;
/** An implication of an implication of an implication. */
const MAX_DEPTH = 3;
const IMPLIED_FACTOR = 0.5;
/** Implications follow from what a site is made of, not from mail senders or certificate issuers. */
const OF_SITE: ReadonlySet<Source> = new Set<Source>(['cname', 'header', 'cookie', 'html']);

/** A detected technology: its index in the set, and its findings. */
export interface DetectedTechnology {
  readonly owner: number;
  readonly findings: readonly Finding[];
}

/** One provider's finding that implies another provider. */
export interface Implied {
  readonly provider: string;
  readonly cause: Finding;
  readonly strength: number;
}

export interface Resolution {
  readonly accepted: readonly DetectedTechnology[];
  readonly implied: readonly Implied[];
}

interface Settled extends Resolution {
  /** Technologies that may be accepted, depending on what was not measured, and their implications. */
  readonly undecided: Resolution;
}

/** What else is known about the domain. */
interface Known {
  /** Providers that our own rules found. */
  readonly own: ReadonlySet<string>;
  readonly sets: CompiledSets;
  readonly unmeasured: ReadonlySet<Source>;
}

/**
 * Decides which detected technologies are accepted. A technology excludes another only if it is accepted itself; of two
 * that exclude each other the stronger is accepted. A cycle of requirements accepts none of its members. A technology is
 * undecided if an unmeasured source may exclude it or provide what it requires.
 */
export function settle(detected: readonly DetectedTechnology[], known: Known): Settled {
  const { sets, unmeasured } = known;
  const circumstances = ({ owner }: DetectedTechnology) => technologyAt(sets, owner).circumstances;
  const safe = detected.filter((each) => circumstances(each).excluding.isDisjointFrom(unmeasured));
  const first = acceptedAmong(safe, { ...known, excluded: new Set() });
  const excluded = excludedBy(first.accepted, sets);
  const settled = excluded.size === 0 ? first : acceptedAmong(safe, { ...known, excluded });
  const accepted = new Set(settled.accepted);
  const open = detected.filter((each) => {
    const { required, excluding } = circumstances(each);
    if (accepted.has(each) || technologyAt(sets, each.owner).isStranded) return false;
    return !required.isDisjointFrom(unmeasured) || !excluding.isDisjointFrom(unmeasured);
  });
  const implied = open.flatMap((each) => impliedBy(each, sets, new Set()));
  return { ...settled, undecided: { accepted: open, implied } };
}

interface Circumstances extends Known {
  readonly excluded: ReadonlySet<string>;
}

function acceptedAmong(detected: readonly DetectedTechnology[], { own, sets, excluded }: Circumstances): Resolution {
  const present = new Presence(sets, own);
  const accepted: DetectedTechnology[] = [];
  const implied: Implied[] = [];
  let waiting = detected.filter(({ owner }) => !excluded.has(providerOf(sets, owner)));
  for (let round = 0; round < MAX_ROUNDS && waiting.length > 0; round++) {
    const later: DetectedTechnology[] = [];
    for (const each of waiting) {
      if (!present.satisfies(technologyAt(sets, each.owner))) {
        later.push(each);
        continue;
      }
      accepted.push(each);
      present.add(providerOf(sets, each.owner));
      for (const follows of impliedBy(each, sets, excluded)) {
        implied.push(follows);
        present.add(follows.provider);
      }
    }
    if (later.length === waiting.length) break;
    waiting = later;
  }
  return { accepted, implied };
}

/** The providers accepted so far, and their categories. */
class Presence {
  readonly #sets: CompiledSets;
  readonly #providers = new Set<string>();
  readonly #categories = new Set<number>();

  constructor(sets: CompiledSets, own: ReadonlySet<string>) {
    this.#sets = sets;
    for (const provider of own) this.add(provider);
  }

  add(provider: string): void {
    if (this.#providers.has(provider)) return;
    this.#providers.add(provider);
    for (const category of this.#sets.providers.get(provider)?.categories ?? []) this.#categories.add(category);
  }

  satisfies({ requires, requiresCategory, isStranded }: CompiledTechnology): boolean {
    if (isStranded) return false;
    if (requires.length === 0 && requiresCategory.length === 0) return true;
    return (
      requires.some((provider) => this.#providers.has(provider)) ||
      requiresCategory.some((category) => this.#categories.has(category))
    );
  }
}

/** Nearest first, each provider once, by the shortest chain and therefore the strongest implication of its kind. */
function impliedBy(detected: DetectedTechnology, sets: CompiledSets, excluded: ReadonlySet<string>): Implied[] {
  const cause = strongestOf({
    ...detected,
    findings: detected.findings.filter(({ rule }) => OF_SITE.has(rule.source)),
  });
  if (!cause) return [];
  const implied: Implied[] = [];
  const reached = new Set([providerOf(sets, detected.owner)]);
  let level = [{ provider: providerOf(sets, detected.owner), strength: cause.strength }];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const next: typeof level = [];
    for (const { provider, strength } of level) {
      for (const follows of sets.providers.get(provider)?.implies ?? []) {
        if (reached.has(follows.provider) || excluded.has(follows.provider)) continue;
        reached.add(follows.provider);
        const weaker = (strength * IMPLIED_FACTOR * follows.confidence) / 100;
        implied.push({ provider: follows.provider, cause, strength: weaker });
        next.push({ provider: follows.provider, strength: weaker });
      }
    }
    level = next;
  }
  return implied;
}

function excludedBy(accepted: readonly DetectedTechnology[], sets: CompiledSets): ReadonlySet<string> {
  const excluded = new Set<string>();
  const byStrength = accepted.toSorted((a, b) => (strongestOf(b)?.strength ?? 0) - (strongestOf(a)?.strength ?? 0));
  for (const { owner } of byStrength) {
    if (excluded.has(providerOf(sets, owner))) continue;
    for (const provider of technologyAt(sets, owner).excludes) {
      if (provider !== providerOf(sets, owner)) excluded.add(provider);
    }
  }
  return excluded;
}

function strongestOf({ findings }: DetectedTechnology): Finding | undefined {
  let best: Finding | undefined;
  for (const finding of findings) if (!best || finding.strength > best.strength) best = finding;
  return best;
}

function technologyAt(sets: CompiledSets, owner: number): CompiledTechnology {
  const technology = sets.technologies[owner];
  if (!technology) throw new Error('a finding without a technology');
  return technology;
}

function providerOf(sets: CompiledSets, owner: number): string {
  return technologyAt(sets, owner).provider.id;
}
