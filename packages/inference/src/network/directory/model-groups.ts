// Workers that have the same file, and what is said of it. What is said decides how a model is called and shown, never how answers are
// judged: that stands in the vocabulary file itself.
import type { OfferedModel } from '../protocol/frame.ts';
import { isModelName, type ModelGroup } from './model-name.ts';

export interface ModelGroupsOptions {
  /** What a worker counts for: 0 where it is not connected or not trusted, at most 1. */
  readonly weigh: (peer: string) => number;
  /** How a file was called until now: it is called so as long as somebody does whose word counts. */
  readonly nameOf?: (file: Pick<ModelGroup, 'sha256' | 'vocabularySha256'>) => string | undefined;
}

interface Offering {
  readonly peer: string;
  readonly weight: number;
  readonly model: OfferedModel;
}

/** The word of those counts who are trusted nearly as far as the most trusted one. */
const BELIEVED = 0.9;

/** Groups of the workers that count for something, largest first; of the same size, in the order of their digests. */
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
      // Of a worker that lists a file twice, the first counts.
      else if (group.at(-1)?.peer !== peer) group.push({ peer, weight, model });
    }
  }
  return [...offerings]
    .sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
    .map(([, group]) => groupOf(group, nameOf));
}

function groupOf(offerings: readonly Offering[], nameOf: Required<ModelGroupsOptions>['nameOf']): ModelGroup {
  const heaviest = offerings.reduce((max, { weight }) => Math.max(max, weight), 0);
  const models = offerings.filter(({ weight }) => weight >= BELIEVED * heaviest).map(({ model }) => model);
  const [first] = models as [OfferedModel];
  const { sha256, vocabularySha256 } = first;
  const said = <Name extends keyof OfferedModel>(name: Name) =>
    mostSaid(models.map((model) => model[name])) ?? first[name];
  const names = models.map((model) => model.name).filter(isModelName);
  const before = nameOf({ sha256, vocabularySha256 });
  const name = before !== undefined && names.includes(before) ? before : (mostSaid(names) ?? '');
  return {
    ...{ sha256, vocabularySha256, name },
    model: {
      name: name || first.name,
      architecture: said('architecture'),
      quantisation: said('quantisation'),
      sizeBytes: said('sizeBytes'),
      parameters: said('parameters'),
      engine: said('engine'),
      // Each worker has its own: no request is refused that one of them may have room for.
      contextLength: models.reduce((max, { contextLength }) => Math.max(max, contextLength), 0),
    },
    peers: offerings.map(({ peer }) => peer),
    weight: offerings.reduce((sum, { weight }) => sum + weight, 0),
  };
}

/** The value that is said most often; of several, the smallest. */
function mostSaid<Value extends string | number>(values: readonly Value[]): Value | undefined {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let max: Value | undefined;
  for (const [value, count] of counts) {
    const before = max === undefined ? 0 : (counts.get(max) ?? 0);
    if (max === undefined || count > before || (count === before && value < max)) max = value;
  }
  return max;
}
