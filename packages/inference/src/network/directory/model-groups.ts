// Groups workers that have the same model file, and combines their descriptions of it. The descriptions determine the
// name and the displayed facts of a model, never how answers are checked: those rules are in the vocabulary file.
import type { OfferedModel } from '../protocol/offer.ts';
import { isModelName, type ModelGroup } from './model-name.ts';

export interface ModelGroupsOptions {
  /** The weight of a worker: 0 if it is not connected or not trusted, at most 1. */
  readonly weigh: (peer: string) => number;
  /** The current name of a file. It is kept while a worker with sufficient weight still uses it. */
  readonly nameOf?: (file: Pick<ModelGroup, 'sha256' | 'vocabularySha256'>) => string | undefined;
}

interface Offering {
  readonly peer: string;
  readonly weight: number;
  readonly model: OfferedModel;
}

/** Descriptions count if the worker's weight is at least this share of the largest weight in the group. */
const BELIEVED_SHARE = 0.9;

/** Groups of workers with a positive weight, largest first; groups of equal size are ordered by digest. */
export function modelGroups(
  workers: Iterable<{ readonly peer: string; readonly offer: { readonly models: readonly OfferedModel[] } }>,
  { weigh, nameOf = () => undefined }: ModelGroupsOptions,
): readonly ModelGroup[] {
  const offerings = new Map<string, Offering[]>();
  for (const { peer, offer } of workers) {
    const weight = weigh(peer);
    if (weight <= 0) continue;
    for (const model of offer.models) {
      const key = `${model.sha256} ${model.vocabularySha256}`;
      const group = offerings.get(key);
      if (!group) offerings.set(key, [{ peer, weight, model }]);
      // If a worker lists a file twice, only the first entry counts.
      else if (group.at(-1)?.peer !== peer) group.push({ peer, weight, model });
    }
  }
  return [...offerings]
    .sort(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1))
    .map(([, group]) => groupOf(group, nameOf));
}

function groupOf(offerings: readonly Offering[], nameOf: Required<ModelGroupsOptions>['nameOf']): ModelGroup {
  const heaviest = offerings.reduce((max, { weight }) => Math.max(max, weight), 0);
  const models = offerings.filter(({ weight }) => weight >= BELIEVED_SHARE * heaviest).map(({ model }) => model);
  const [first] = models as [OfferedModel];
  const { sha256, vocabularySha256 } = first;
  const consensus = <Name extends 'architecture' | 'quantisation' | 'sizeBytes' | 'parameters' | 'engine'>(
    name: Name,
  ) => consensusOf(models.map((model) => model[name])) ?? first[name];
  const names = models.map((model) => model.name).filter(isModelName);
  const before = nameOf({ sha256, vocabularySha256 });
  const name = before !== undefined && names.includes(before) ? before : (consensusOf(names) ?? '');
  return {
    ...{ sha256, vocabularySha256, name },
    model: {
      name: name || first.name,
      architecture: consensus('architecture'),
      quantisation: consensus('quantisation'),
      sizeBytes: consensus('sizeBytes'),
      parameters: consensus('parameters'),
      engine: consensus('engine'),
      // Contexts differ between workers: a request is not rejected while one of them may have enough context.
      contextLength: models.reduce((max, { contextLength }) => Math.max(max, contextLength), 0),
    },
    peers: offerings.map(({ peer }) => peer),
    weight: offerings.reduce((sum, { weight }) => sum + weight, 0),
  };
}

/** The most frequent value; of several equally frequent ones, the smallest. */
function consensusOf<Value extends string | number>(values: readonly Value[]): Value | undefined {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let max: Value | undefined;
  for (const [value, count] of counts) {
    const before = max === undefined ? 0 : (counts.get(max) ?? 0);
    if (max === undefined || count > before || (count === before && value < max)) max = value;
  }
  return max;
}
