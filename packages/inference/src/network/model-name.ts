// Which names a model may be served by, and which file is meant by a name that several files claim.
import type { ModelGroup } from './model-groups.ts';

/** Letters, digits and what names of models are written with; `@` stands before the digest of a file. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]*([/:][A-Za-z0-9][A-Za-z0-9._+-]*)*$/;
const MOST_NAME = 128;

/** Whether it can stand in a URL, a log and a shell without harm. Names come from strangers. */
export function isModelName(name: string): boolean {
  return name.length <= MOST_NAME && NAME.test(name) && !name.includes('..');
}

export interface BindingOptions {
  /** Names that mean one file, whatever workers say: name to SHA-256. */
  readonly pinned: ReadonlyMap<string, string>;
  /** What each name meant until now: it goes on to mean that, unless another file has much more behind it. */
  readonly bound: ReadonlyMap<string, string>;
  /** What a worker counts for: 0 where it is not connected or not trusted, at most 1. */
  readonly weigh: (peer: string) => number;
}

export interface Bindings {
  /** By the id that callers use. */
  readonly models: ReadonlyMap<string, ModelGroup>;
  /** For the next time. */
  readonly bound: ReadonlyMap<string, string>;
}

/** So many times the weight of the file that has a name until now, another one must have to take it. */
const TAKEOVER = 2;

/** Which file each name means; others of the same name are served as `name@` and the first 12 digits of their SHA-256. */
export function bindNames(groups: readonly ModelGroup[], { pinned, bound, weigh }: BindingOptions): Bindings {
  const files = strongestByFile(groups, weigh);
  const pinnedNames = new Map([...pinned].map(([name, sha256]) => [sha256, name]));
  const claims = Map.groupBy(
    files.values().filter(({ group, weight }) => weight > 0 || bound.get(nameOf(group)) === group.sha256),
    ({ group }) => nameOf(group),
  );
  const models = new Map<string, ModelGroup>();
  const next = new Map<string, string>();
  for (const [name, sha256] of pinned) {
    const file = files.get(sha256);
    if (file) models.set(name, file.group);
  }
  for (const [name, claimants] of claims) {
    if (name === '') continue;
    const winner = pinned.has(name) ? undefined : winnerOf(claimants, bound.get(name));
    if (winner) next.set(name, winner.group.sha256);
    for (const claimant of claimants) {
      const { group, weight } = claimant;
      if (claimant === winner) models.set(name, group);
      else if (weight > 0 && !pinnedNames.has(group.sha256)) models.set(`${name}@${group.sha256.slice(0, 12)}`, group);
    }
  }
  return { models, bound: next };
}

interface Weighed {
  readonly group: ModelGroup;
  readonly weight: number;
}

const nameOf = ({ name }: ModelGroup): string => name;

/** A file has one vocabulary: of groups that differ in it, all but one lie. */
function strongestByFile(groups: readonly ModelGroup[], weigh: (peer: string) => number): ReadonlyMap<string, Weighed> {
  const files = new Map<string, Weighed>();
  for (const group of groups) {
    const weight = group.peers.reduce((sum, peer) => sum + weigh(peer), 0);
    const known = files.get(group.sha256);
    if (!known || weight > known.weight) files.set(group.sha256, { group, weight });
  }
  return files;
}

function winnerOf(claimants: readonly Weighed[], boundSha256: string | undefined): Weighed | undefined {
  const strongest = claimants.reduce<Weighed | undefined>(
    (best, each) => (!best || isStronger(each, best) ? each : best),
    undefined,
  );
  const holder = claimants.find(({ group }) => group.sha256 === boundSha256);
  if (!holder || !strongest) return strongest;
  return strongest.weight >= TAKEOVER * Math.max(1, holder.weight) ? strongest : holder;
}

const isStronger = (a: Weighed, b: Weighed): boolean =>
  a.weight === b.weight ? a.group.sha256 < b.group.sha256 : a.weight > b.weight;
