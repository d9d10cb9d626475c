// Valid model names, and the file that a name refers to if several files claim it.
import type { OfferedModel } from '../protocol/offer.ts';

/** Workers that have the same file and agree on its vocabulary. */
export interface ModelGroup {
  readonly sha256: string;
  readonly vocabularySha256: string;
  /** The name that its workers use, if it is valid; otherwise empty. */
  readonly name: string;
  readonly model: Pick<
    OfferedModel,
    'name' | 'architecture' | 'quantisation' | 'sizeBytes' | 'parameters' | 'engine' | 'contextLength'
  >;
  readonly peers: readonly string[];
  /** The sum of the workers' weights. */
  readonly weight: number;
}

/** Letters, digits and the punctuation of model names; `@` is reserved for the digest suffix. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]*([/:][A-Za-z0-9][A-Za-z0-9._+-]*)*$/;
const MAX_NAME = 128;

/** Whether a name is safe in URLs, logs and shells. Names come from untrusted workers. */
export function isModelName(name: string): boolean {
  return name.length <= MAX_NAME && NAME.test(name) && !name.includes('..');
}

/** The file that a name refers to, and the weight of its workers when it was last at its peak. */
export interface Binding {
  readonly sha256: string;
  readonly vocabularySha256: string;
  readonly weight: number;
  readonly heldAtMs: number;
}

export interface BindingOptions {
  /** Names with a fixed file, independent of workers: name to SHA-256. */
  readonly pinned: ReadonlyMap<string, string>;
  /** The current file of each name. It is kept unless another file has a much larger weight. */
  readonly bound: ReadonlyMap<string, Binding>;
  readonly nowMs: number;
}

export interface Bindings {
  /** By the id that clients use. */
  readonly models: ReadonlyMap<string, ModelGroup>;
  /** The bindings to pass to the next call. */
  readonly bound: ReadonlyMap<string, Binding>;
}

/** Another file takes over a name if its weight is at least this many times the weight of the current file. */
const TAKEOVER = 2;
/** A name is kept this long while its workers are offline: as long as their offers are valid. */
const OFFLINE_MS = 120_000;
/** Maximum number of names kept for workers that are offline. */
const MAX_OFFLINE = 10_000;

/**
 * The file of each name. Other files with the same name are served as `name@` and the first 12 digits of their SHA-256.
 */
export function bindNames(groups: readonly ModelGroup[], { pinned, bound, nowMs }: BindingOptions): Bindings {
  const files = strongestByFile(groups, bound);
  const pinnedFiles = new Set(pinned.values());
  const claims = Map.groupBy(
    [...files.values()].filter(({ name }) => name !== ''),
    ({ name }) => name,
  );
  const models = new Map<string, ModelGroup>();
  const next = new Map<string, Binding>();
  let offline = 0;
  for (const name of new Set([...pinned.keys(), ...bound.keys(), ...claims.keys()])) {
    const claimants = claims.get(name) ?? [];
    const wanted = pinned.get(name);
    const held = wanted === undefined || bound.get(name)?.sha256 === wanted ? bound.get(name) : undefined;
    const winner = winnerOf(wanted === undefined ? claimants : [files.get(wanted) ?? []].flat(), held, nowMs);
    if (winner) {
      models.set(name, winner);
      next.set(name, held && isOf(held, winner) ? stillHeld(held, winner, nowMs) : bindingOf(winner, nowMs));
    } else if (held && isRecent(held, nowMs) && offline++ < MAX_OFFLINE) next.set(name, held);
    for (const group of claimants)
      if (group !== winner && !pinnedFiles.has(group.sha256)) models.set(`${name}@${group.sha256.slice(0, 12)}`, group);
  }
  return { models, bound: next };
}

const isRecent = ({ heldAtMs }: Binding, nowMs: number): boolean => nowMs - heldAtMs < OFFLINE_MS;

function bindingOf({ sha256, vocabularySha256, weight }: ModelGroup, nowMs: number): Binding {
  return { sha256, vocabularySha256, weight, heldAtMs: nowMs };
}

const isOf = (held: Binding, { sha256, vocabularySha256 }: ModelGroup): boolean =>
  held.sha256 === sha256 && held.vocabularySha256 === vocabularySha256;

/** The peak weight is kept for a while after workers disconnect. */
function stillHeld(held: Binding, group: ModelGroup, nowMs: number): Binding {
  return group.weight >= held.weight || !isRecent(held, nowMs) ? bindingOf(group, nowMs) : held;
}

/**
 * A file has exactly one vocabulary: of groups that disagree, at most one is right. The served one stays until another
 * has a much larger weight.
 */
function strongestByFile(
  groups: readonly ModelGroup[],
  bound: ReadonlyMap<string, Binding>,
): ReadonlyMap<string, ModelGroup> {
  const served = new Set([...bound.values()].map(({ sha256, vocabularySha256 }) => `${sha256} ${vocabularySha256}`));
  const strength = ({ sha256, vocabularySha256, weight }: ModelGroup) =>
    weight * (served.has(`${sha256} ${vocabularySha256}`) ? TAKEOVER : 1);
  const files = new Map<string, ModelGroup>();
  for (const group of groups) {
    const known = files.get(group.sha256);
    if (!known || strength(group) > strength(known)) files.set(group.sha256, group);
  }
  return files;
}

function winnerOf(claimants: readonly ModelGroup[], held: Binding | undefined, nowMs: number): ModelGroup | undefined {
  const strongest = claimants.reduce<ModelGroup | undefined>(
    (best, each) => (!best || isStronger(each, best) ? each : best),
    undefined,
  );
  if (!held) return strongest;
  const holder = claimants.find((group) => isOf(held, group));
  const weight = Math.max(holder?.weight ?? 0, isRecent(held, nowMs) ? held.weight : 0);
  if (weight === 0) return strongest;
  return strongest && strongest.weight >= TAKEOVER * Math.max(1, weight) ? strongest : holder;
}

const isStronger = (a: ModelGroup, b: ModelGroup): boolean =>
  a.weight === b.weight ? a.sha256 < b.sha256 : a.weight > b.weight;
