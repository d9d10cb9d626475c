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
  const said = <Name extends keyof OfferedModel>(name: Name) => models.map((model) => model[name]);
  const name = mostSaid(said('name').filter(isModelName)) ?? '';
  return {
    sha256: first.sha256,
    vocabularySha256: first.vocabularySha256,
    name,
    peers: offerings.map(({ peer }) => peer),
    model: {
      sha256: first.sha256,
      vocabularySha256: first.vocabularySha256,
      name: name || first.name,
      templateSha256: mostSaid(said('templateSha256')) ?? first.templateSha256,
      architecture: mostSaid(said('architecture')) ?? first.architecture,
      quantisation: mostSaid(said('quantisation')) ?? first.quantisation,
      sizeBytes: mostSaid(said('sizeBytes')) ?? first.sizeBytes,
      parameters: mostSaid(said('parameters')) ?? first.parameters,
      contextLength: mostSaid(said('contextLength')) ?? first.contextLength,
      vocabularySize: mostSaid(said('vocabularySize')) ?? first.vocabularySize,
      longestToken: mostSaid(said('longestToken')) ?? first.longestToken,
      slots: middle(said('slots')) ?? first.slots,
      prefillTokensPerSecond: middle(said('prefillTokensPerSecond')) ?? first.prefillTokensPerSecond,
      decodeTokensPerSecond: middle(said('decodeTokensPerSecond')) ?? first.decodeTokensPerSecond,
      engine: mostSaid(said('engine')) ?? first.engine,
    },
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
