// Cached answers from ClickHouse: an event makes them outdated in this process at once, and again when the exporter has
// applied it, because an answer in between was computed without it.
import type { IndexPosition } from '@strata/analytics';
import type { AnswerCache, CachePolicy } from '@strata/http';
import type { EventBus } from '../events.ts';
import { tags } from '../index/live-index.ts';

export interface OutdatedAnswersDeps {
  readonly answers: Pick<AnswerCache, 'invalidate' | 'invalidateAll'>;
  readonly events: EventBus;
  readonly log: { readonly position: IndexPosition };
}

/** Events whose tags are invalidated when ClickHouse has them: the first one, and the last one. */
interface Awaited {
  readonly first: number;
  last: number;
}

export class OutdatedAnswers {
  readonly #deps: OutdatedAnswersDeps;
  /** By tag; of providers and categories, so the catalog bounds it. */
  readonly #awaited = new Map<string, Awaited>();
  /** Events before this one have no tags: this process began after them. */
  #untagged: number;
  #position: IndexPosition | undefined;

  constructor(deps: OutdatedAnswersDeps) {
    this.#deps = deps;
    this.#untagged = deps.log.position.seq;
    const { events, log } = deps;
    events.subscribe('event-indexed', ({ event: { seq }, effects }) => {
      for (const tag of effects.tags) this.#await(tag, seq);
    });
    events.subscribe('index-rebuilt', () => {
      this.#untagged = log.position.seq;
    });
  }

  /** ClickHouse has these events and scans now. */
  moved(position: IndexPosition): void {
    const { answers } = this.#deps;
    const before = this.#position ?? { seq: 0, scanId: 0 };
    this.#position = position;
    if (position.scanId !== before.scanId) for (const tag of tags.scans) answers.invalidate(tag);
    if (position.seq === before.seq) return;
    if (before.seq < this.#untagged) answers.invalidateAll();
    for (const [tag, { first, last }] of this.#awaited) {
      if (first <= position.seq) answers.invalidate(tag);
      if (last <= position.seq) this.#awaited.delete(tag);
    }
  }

  /** ClickHouse responds again, perhaps with other tables: any answer may differ. */
  recovered(): void {
    this.#deps.answers.invalidateAll();
  }

  /** The header of an answer about sets: the last event that it includes for certain. */
  headersOf(policy: Pick<CachePolicy, 'tags'>): Readonly<Record<string, string>> {
    return this.#position && policy.tags.some(isOfSets) ? { 'stack-as-of-event': String(this.#position.seq) } : {};
  }

  #await(tag: string, seq: number): void {
    const known = this.#awaited.get(tag);
    if (known) known.last = seq;
    // An event that ClickHouse has already needs no second invalidation.
    else if (seq > (this.#position?.seq ?? 0)) this.#awaited.set(tag, { first: seq, last: seq });
  }
}

const OF_SETS: ReadonlySet<string> = new Set([...tags.domains, ...tags.changes, ...tags.scans]);
const isOfSets = (tag: string) => OF_SETS.has(tag) || /^(provider|category):/.test(tag);
