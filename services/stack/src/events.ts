// The event bus of a process: what its components announce to each other. Processes communicate through the store only.
import { EventEmitter } from 'node:events';
import type { Entry } from '@strata/advisories';
import type { Logger } from 'pino';
import type { RecordedPoll, StoredEvent, StoreHeads } from './store/index.ts';

/** The events and their values. */
export interface StackEvents {
  /** This process committed a scan. Published before the outcome is returned: no later answer is older than the scan. */
  'scan-recorded': ObservedDomain;
  /** A scan ended, recorded or not. */
  'scan-ended': { readonly outcome: string; readonly ms: number };
  /** This process has applied an event of the store. In the order of the log, as the next two. */
  'event-indexed': { readonly event: StoredEvent; readonly effects: EventEffects };
  /** This process has applied scans of any process. */
  'scans-indexed': readonly ObservedDomain[];
  /** Unread events or scans were deleted, or what an event changed is not known: anything may differ. */
  'index-rebuilt': undefined;
  /** Advisories changed in the store. */
  'advisories-changed': AdvisoryChange;
  /** The advisory status of domains became known: all advisories are loaded, or the first sync is complete. */
  'exposures-known': undefined;
  /** An alert was stored. */
  'alert-stored': undefined;
  /** The hub has read events of the public stream, which subscribers get next. */
  'stream-read': undefined;
  /** Mentions of these domains were counted; undefined: the counts of any domain may differ. */
  'mentions-counted': ReadonlySet<string> | undefined;
  /** A poll of a feed was recorded. */
  'feed-polled': RecordedPoll;
  /** A step of a sync stored advisories. */
  'advisories-stored': undefined;
  /** The positions of the store's logs, with those that differ from the last poll. An update follows. */
  'logs-polled': { readonly heads: StoreHeads; readonly changed: ReadonlySet<keyof StoreHeads> };
}

/** A domain and the time of its scan, in milliseconds since the epoch. */
export interface ObservedDomain {
  readonly domain: string;
  readonly at: number;
}

/** What an event changes. */
export interface EventEffects {
  /** Cache tags of outdated answers. */
  readonly tags: readonly string[];
  /** Providers whose domains, or the builds of which, may differ. */
  readonly providers: readonly string[];
}

/** Products with outdated answers, and the current entries of changed advisories. */
export interface AdvisoryChange {
  readonly products: ReadonlySet<string>;
  readonly entries: readonly Entry[];
}

/**
 * Delivers synchronously, in the order of subscription, before `publish` returns. A subscriber that throws is logged, and affects
 * neither the publisher nor other subscribers. Asynchronous work belongs to the subscriber: nothing awaits it here. Subscriptions last as
 * long as the bus.
 */
export class EventBus {
  readonly #emitter = new EventEmitter();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  subscribe<Name extends keyof StackEvents>(name: Name, subscriber: (value: StackEvents[Name]) => void): void {
    this.#emitter.on(name, (value: StackEvents[Name]) => {
      try {
        subscriber(value);
      } catch (error) {
        this.#logger.error({ err: error, event: name }, 'a subscriber of an event failed');
      }
    });
  }

  publish<Name extends keyof StackEvents>(
    name: Name,
    ...[value]: undefined extends StackEvents[Name] ? [value?: StackEvents[Name]] : [value: StackEvents[Name]]
  ): void {
    this.#emitter.emit(name, value);
  }
}
