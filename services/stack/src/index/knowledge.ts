// What this process knows about all domains: the engine of questions, and the advisories matched against it. The logs update both.
import path from 'node:path';
import type { ClickHouse } from '@strata/analytics-clickhouse';
import type { Rulebook } from '@strata/detect';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Exposures } from '../enrichment/exposure/exposures.ts';
import type { EventBus } from '../events.ts';
import { SharedRun } from '../shared-run.ts';
import type { Store } from '../store/index.ts';
import { type KnownNames, knownNames } from './known-names.ts';
import { type Domains, openDomains } from './open-domains.ts';

export interface KnowledgeDeps {
  readonly store: Store;
  readonly rulebook: Rulebook;
  readonly clickhouse: ClickHouse | undefined;
  readonly events: EventBus;
  readonly logger: Logger;
}

export interface Knowledge extends Domains {
  readonly names: KnownNames;
  readonly exposures: Exposures;
  /**
   * Applies the advisories in the store, and the events before them; calls during a run share the next one. After a failure it
   * continues at its position, as `catchUp` does.
   */
  updateAdvisories(): Promise<void>;
}

/** Opens both, up to date with the store. */
export async function openKnowledge(config: Config, deps: KnowledgeDeps): Promise<Knowledge> {
  const { store, rulebook, events } = deps;
  await using stack = new AsyncDisposableStack();
  const file = path.join(config.dataDirectory, 'index.snapshot');
  const domains = stack.use(await openDomains({ ...deps, file }));
  const { analytics, known, log, index } = domains;
  const exposures = stack.use(await Exposures.open({ store, analytics, rulebook }));
  exposures.drop(log.position.seq);
  events.subscribe('event-indexed', ({ event, effects }) => exposures.drop(event.seq, effects.providers));
  events.subscribe('index-rebuilt', () => exposures.drop(log.position.seq));
  let wasLoaded = exposures.isLoaded;
  const updates = new SharedRun(async () => {
    const isNew = exposures.isLoaded && !wasLoaded;
    wasLoaded = exposures.isLoaded;
    if ((await exposures.learn()) || isNew) events.publish('exposures-known');
    for await (const change of exposures.changes()) {
      await domains.catchUp();
      events.publish('advisories-changed', change);
    }
  });
  return Object.assign(stack.move(), {
    ...{ analytics, known, log, index, exposures },
    updateAdvisories: () => updates.start(),
    catchUp: () => domains.catchUp(),
    refresh: () => domains.refresh(),
    names: knownNames(rulebook),
  });
}
