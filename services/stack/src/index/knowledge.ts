// What is known of all domains at once, in memory: the index, and the advisories judged against it. Both follow the store, whoever writes.
import path from 'node:path';
import type { DomainIndex } from '@strata/analytics';
import type { Rulebook } from '@strata/detect';
import type { Store } from '@strata/store';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Exposures, type FollowedChange } from '../enrichment/exposure/exposures.ts';
import { type KnownNames, knownNames } from './known-names.ts';
import { LiveIndex, type LiveIndexDeps } from './live-index.ts';

export interface KnowledgeDeps {
  readonly store: Store;
  readonly rulebook: Rulebook;
  readonly logger: Logger;
}

/** Who hears of what was taken in, after it is there and in its order. */
export interface KnowledgeListener extends Pick<LiveIndexDeps, 'onEvent' | 'onScans' | 'onRebuilt'> {
  readonly onAdvisories: (change: FollowedChange) => void;
  /** It came to be known whom advisories concern at all: when all are read, and when the first source is whole. */
  readonly onLearned: () => void;
}

export interface Knowledge extends AsyncDisposable {
  readonly index: DomainIndex;
  readonly names: KnownNames;
  readonly exposures: Exposures;
  /** The index takes in what any process has written. */
  catchUp(): Promise<void>;
  /** In order: the index takes in what any process has written, then the exposures. Each goes on where it stood when it failed. */
  readonly steps: readonly (() => Promise<void>)[];
}

/** Opens both, up to date with the store. */
export async function openKnowledge(
  config: Config,
  { store, rulebook, logger }: KnowledgeDeps,
  listener: KnowledgeListener,
): Promise<Knowledge> {
  await using stack = new AsyncDisposableStack();
  let following: Exposures | undefined;
  const live = stack.use(
    await LiveIndex.open({
      store,
      file: path.join(config.dataDirectory, 'index.snapshot'),
      logger,
      onEvent: (event, taken) => {
        following?.touch(taken.providers);
        following?.addBuilds(taken.newBuilds);
        listener.onEvent(event, taken);
      },
      onScans: listener.onScans,
      onRebuilt: () => {
        following?.readBuilds();
        listener.onRebuilt();
      },
    }),
  );
  const { index } = live;
  const exposures = stack.use(await Exposures.open({ store, index, rulebook }));
  following = exposures;
  let wasLoaded = exposures.isLoaded;
  const followAdvisories = async () => {
    const isNew = exposures.isLoaded && !wasLoaded;
    wasLoaded = exposures.isLoaded;
    if ((await exposures.learn()) || isNew) listener.onLearned();
    await exposures.follow(async (change) => listener.onAdvisories(change));
  };
  const owned = stack.move();
  return {
    index,
    names: knownNames(rulebook),
    exposures,
    catchUp: () => live.catchUp(),
    steps: [() => live.catchUp(), followAdvisories],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
