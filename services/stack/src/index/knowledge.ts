// In-memory state over all domains: the index, and the advisories matched against it. Both are updated from the store's logs.
import path from 'node:path';
import type { DomainIndex } from '@strata/analytics';
import type { Rulebook } from '@strata/detect';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Exposures } from '../enrichment/exposure/exposures.ts';
import type { EventBus } from '../events.ts';
import type { Store } from '../store/index.ts';
import { type KnownNames, knownNames } from './known-names.ts';
import { LiveIndex } from './live-index.ts';

export interface KnowledgeDeps {
  readonly store: Store;
  readonly rulebook: Rulebook;
  readonly events: EventBus;
  readonly logger: Logger;
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
export async function openKnowledge(config: Config, deps: KnowledgeDeps): Promise<Knowledge> {
  const { store, rulebook, events } = deps;
  await using stack = new AsyncDisposableStack();
  const live = stack.use(await LiveIndex.open({ ...deps, file: path.join(config.dataDirectory, 'index.snapshot') }));
  const { index } = live;
  const exposures = stack.use(await Exposures.open({ store, index, rulebook }));
  events.subscribe('event-indexed', ({ effects }) => exposures.apply(effects));
  events.subscribe('index-rebuilt', () => exposures.readBuilds());
  let wasLoaded = exposures.isLoaded;
  const updateAdvisories = async () => {
    const isNew = exposures.isLoaded && !wasLoaded;
    wasLoaded = exposures.isLoaded;
    if ((await exposures.learn()) || isNew) events.publish('exposures-known');
    for await (const change of exposures.changes()) events.publish('advisories-changed', change);
  };
  return Object.assign(stack.move(), {
    index,
    names: knownNames(rulebook),
    exposures,
    catchUp: () => live.catchUp(),
    steps: [() => live.catchUp(), updateAdvisories],
  });
}
