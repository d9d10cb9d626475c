// In-memory state over all domains: the index, and the advisories matched against it. Both are updated from the store's logs.
import path from 'node:path';
import type { DomainIndex } from '@strata/analytics';
import type { Rulebook } from '@strata/detect';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Exposures, type FollowedChange } from '../enrichment/exposure/exposures.ts';
import type { Store } from '../store/index.ts';
import { type KnownNames, knownNames } from './known-names.ts';
import { LiveIndex, type LiveIndexDeps } from './live-index.ts';

export interface KnowledgeDeps {
  readonly store: Store;
  readonly rulebook: Rulebook;
  readonly logger: Logger;
}

/** Callbacks after changes are applied, in their order. */
export interface KnowledgeListener extends Pick<LiveIndexDeps, 'onEvent' | 'onScans' | 'onRebuilt'> {
  readonly onAdvisories: (change: FollowedChange) => void;
  /** Called when the status of domains becomes known: when all advisories are loaded, and after the first complete sync. */
  readonly onLearned: () => void;
}

export interface Knowledge extends AsyncDisposable {
  readonly index: DomainIndex;
  readonly names: KnownNames;
  readonly exposures: Exposures;
  /** Applies everything in the store to the index. */
  catchUp(): Promise<void>;
  /** In order: update the index, then the exposures. After a failure each continues at its position. */
  readonly steps: readonly (() => Promise<void>)[];
}

/** Opens both, up to date with the store. */
export async function openKnowledge(
  config: Config,
  { store, rulebook, logger }: KnowledgeDeps,
  listener: KnowledgeListener,
): Promise<Knowledge> {
  await using stack = new AsyncDisposableStack();
  let opened: Exposures | undefined;
  const live = stack.use(
    await LiveIndex.open({
      store,
      file: path.join(config.dataDirectory, 'index.snapshot'),
      logger,
      onEvent: (event, taken) => {
        opened?.touch(taken.providers);
        opened?.addBuilds(taken.newBuilds);
        listener.onEvent(event, taken);
      },
      onScans: listener.onScans,
      onRebuilt: () => {
        opened?.readBuilds();
        listener.onRebuilt();
      },
    }),
  );
  const { index } = live;
  const exposures = stack.use(await Exposures.open({ store, index, rulebook }));
  opened = exposures;
  let wasLoaded = exposures.isLoaded;
  const updateAdvisories = async () => {
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
    steps: [() => live.catchUp(), updateAdvisories],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
