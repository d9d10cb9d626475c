// Workers that have the same file, and what is to be believed of it: what most of them say, those that are connected before all others.
import type { OfferedModel } from './frame.ts';
import { isModelName } from './model-name.ts';

/** Workers that have the same file, and agree on its vocabulary. */
export interface ModelGroup {
  readonly sha256: string;
  readonly vocabularySha256: string;
  /** As most of them call it, of names that can be one; else empty. */
  readonly name: string;
  /** As most of them say; of slots and speeds, the middle one. */
  readonly model: OfferedModel;
  readonly peers: readonly string[];
}

interface Offering {
  readonly peer: string;
  readonly isConnected: boolean;
  readonly model: OfferedModel;
}

/** Groups, largest first; of the same size, in the order of their digests. */
export function modelGroups(
  workers: Iterable<{
    readonly peer: string;
    readonly isConnected: boolean;
    readonly offer: { readonly models: readonly OfferedModel[] };
  }>,
): readonly ModelGroup[] {
  const offerings = new Map<string, Offering[]>();
  for (const { peer, isConnected, offer } of workers) {
    for (const model of offer.models) {
      const key = `${model.sha256} ${model.vocabularySha256}`;
      const group = offerings.get(key);
      if (!group) offerings.set(key, [{ peer, isConnected, model }]);
      // Of a worker that lists a file twice, the first counts.
      else if (group.at(-1)?.peer !== peer) group.push({ peer, isConnected, model });
    }
  }
  return [...offerings]
    .sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
    .map(([, group]) => groupOf(group));
}

function groupOf(offerings: readonly Offering[]): ModelGroup {
  // A peer key costs nothing, a connection does: strangers have no say where somebody is connected.
  const connected = offerings.filter(({ isConnected }) => isConnected);
  const models = (connected.length > 0 ? connected : offerings).map(({ model }) => model);
  const [first] = models as [OfferedModel];
  const name = mostSaid(models.map((model) => model.name).filter(isModelName)) ?? '';
  return {
    sha256: first.sha256,
    vocabularySha256: first.vocabularySha256,
    name,
    peers: offerings.map(({ peer }) => peer),
    model: { ...(models.length === 1 ? first : agreed(models, first)), name: name || first.name },
  };
}

function agreed(models: readonly OfferedModel[], first: OfferedModel): OfferedModel {
  const most = <Name extends keyof OfferedModel>(name: Name) =>
    mostSaid(models.map((model) => model[name])) ?? first[name];
  const half = (name: 'slots' | 'prefillTokensPerSecond' | 'decodeTokensPerSecond') =>
    middle(models.map((model) => model[name])) ?? first[name];
  return {
    ...first,
    templateSha256: most('templateSha256'),
    architecture: most('architecture'),
    quantisation: most('quantisation'),
    sizeBytes: most('sizeBytes'),
    parameters: most('parameters'),
    contextLength: most('contextLength'),
    vocabularySize: most('vocabularySize'),
    longestToken: most('longestToken'),
    engine: most('engine'),
    slots: half('slots'),
    prefillTokensPerSecond: half('prefillTokensPerSecond'),
    decodeTokensPerSecond: half('decodeTokensPerSecond'),
  };
}

/** The value that is said most often; of several, the smallest. */
function mostSaid<Value extends string | number>(values: readonly Value[]): Value | undefined {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let most: Value | undefined;
  for (const [value, count] of counts) {
    const before = most === undefined ? 0 : (counts.get(most) ?? 0);
    if (most === undefined || count > before || (count === before && value < most)) most = value;
  }
  return most;
}

/** Half of them say less or the same. */
function middle(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}
