// Which names a model may be served by, and which file is meant by a name that several files claim.
import type { OfferedModel } from '../protocol/frame.ts';

/** Workers that have the same file, and agree on its vocabulary. */
export interface ModelGroup {
  readonly sha256: string;
  readonly vocabularySha256: string;
  /** As its workers call it, of names that can be one; else empty. */
  readonly name: string;
  readonly model: Pick<
    OfferedModel,
    'name' | 'architecture' | 'quantisation' | 'sizeBytes' | 'parameters' | 'engine' | 'contextLength'
  >;
  readonly peers: readonly string[];
  /** What they count for together. */
  readonly weight: number;
}

/** Letters, digits and what names of models are written with; `@` stands before the digest of a file. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]*([/:][A-Za-z0-9][A-Za-z0-9._+-]*)*$/;
const MAX_NAME = 128;

/** Whether it can stand in a URL, a log and a shell without harm. Names come from strangers. */
export function isModelName(name: string): boolean {
  return name.length <= MAX_NAME && NAME.test(name) && !name.includes('..');
}

/** The file that a name means, and what its workers counted for when that was last as much. */
export interface Binding {
  readonly sha256: string;
  readonly vocabularySha256: string;
  readonly weight: number;
  readonly heldAtMs: number;
}

export interface BindingOptions {
  /** Names that mean one file, whatever workers say: name to SHA-256. */
  readonly pinned: ReadonlyMap<string, string>;
  /** What each name meant until now: it goes on to mean that, unless another file has much more behind it. */
  readonly bound: ReadonlyMap<string, Binding>;
  readonly nowMs: number;
}

export interface Bindings {
  /** By the id that callers use. */
  readonly models: ReadonlyMap<string, ModelGroup>;
  /** For the next time. */
  readonly bound: ReadonlyMap<string, Binding>;
}

/** So many times the weight of the file that has a name until now, another one must have to take it. */
const TAKEOVER = 2;
/** A name is kept for workers that are away for so long, as many as they were: as long as their offers live. */
const AWAY_MS = 120_000;
/** Names kept for those who are away. */
const MAX_AWAY = 10_000;

/** Which file each name means; others of the same name are served as `name@` and the first 12 digits of their SHA-256. */
export function bindNames(groups: readonly ModelGroup[], { pinned, bound, nowMs }: BindingOptions): Bindings {
  const files = strongestByFile(groups, bound);
  const pinnedFiles = new Set(pinned.values());
  const claims = Map.groupBy(
    [...files.values()].filter(({ name }) => name !== ''),
    ({ name }) => name,
  );
  const models = new Map<string, ModelGroup>();
  const next = new Map<string, Binding>();
  let away = 0;
  for (const name of new Set([...pinned.keys(), ...bound.keys(), ...claims.keys()])) {
    const claimants = claims.get(name) ?? [];
    const wanted = pinned.get(name);
    const held = wanted === undefined || bound.get(name)?.sha256 === wanted ? bound.get(name) : undefined;
    const winner = winnerOf(wanted === undefined ? claimants : [files.get(wanted) ?? []].flat(), held, nowMs);
    if (winner) {
      models.set(name, winner);
      next.set(name, held && isOf(held, winner) ? stillHeld(held, winner, nowMs) : bindingOf(winner, nowMs));
    } else if (held && isLately(held, nowMs) && away++ < MAX_AWAY) next.set(name, held);
    for (const group of claimants)
      if (group !== winner && !pinnedFiles.has(group.sha256)) models.set(`${name}@${group.sha256.slice(0, 12)}`, group);
  }
  return { models, bound: next };
}

const isLately = ({ heldAtMs }: Binding, nowMs: number): boolean => nowMs - heldAtMs < AWAY_MS;

function bindingOf({ sha256, vocabularySha256, weight }: ModelGroup, nowMs: number): Binding {
  return { sha256, vocabularySha256, weight, heldAtMs: nowMs };
}

const isOf = (held: Binding, { sha256, vocabularySha256 }: ModelGroup): boolean =>
  held.sha256 === sha256 && held.vocabularySha256 === vocabularySha256;

/** What its workers counted for together is remembered for a while after some of them went. */
function stillHeld(held: Binding, group: ModelGroup, nowMs: number): Binding {
  return group.weight >= held.weight || !isLately(held, nowMs) ? bindingOf(group, nowMs) : held;
}

/** A file has one vocabulary: of groups that differ in it, all but one lie; the one that was served stays until another has much more. */
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
  const weight = Math.max(holder?.weight ?? 0, isLately(held, nowMs) ? held.weight : 0);
  if (weight === 0) return strongest;
  return strongest && strongest.weight >= TAKEOVER * Math.max(1, weight) ? strongest : holder;
}

const isStronger = (a: ModelGroup, b: ModelGroup): boolean =>
  a.weight === b.weight ? a.sha256 < b.sha256 : a.weight > b.weight;
