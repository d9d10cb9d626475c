// Publishes changes, anomalies and advisories of the internal log as signed events of the public stream, each once.

import { StoreError } from '@strata/db';
import { NOTICE, type Notary } from '@strata/http';
import { anomalyReport } from '../alerts/anomaly-report.ts';
import { advisoryNews } from '../enrichment/exposure/advisory-report.ts';
import type { Exposures } from '../enrichment/exposure/exposures.ts';
import type { KnownNames } from '../index/known-names.ts';
import { changeReport } from '../reports/domain-report.ts';
import type { DomainExposed } from '../store/events/stored-event.ts';
import type { Store, StoredEvent, StreamEvent } from '../store/index.ts';

export interface PublisherDeps {
  readonly store: Store;
  readonly notary: Notary;
  readonly names: KnownNames;
  readonly exposures: Pick<Exposures, 'advisories'>;
  /** The clock of receipts and of publication, not of scanning. */
  readonly now: () => Date;
}

/** Internal events per batch; they are signed concurrently and share the ledger's commits. */
const BATCH = 500;

export class StreamPublisher {
  readonly #deps: PublisherDeps;
  #cursor: number;
  #lastUs: number;

  private constructor(deps: PublisherDeps, cursor: number, lastUs: number) {
    this.#deps = deps;
    this.#cursor = cursor;
    this.#lastUs = lastUs;
  }

  /** A new stream begins now: earlier events are only in the histories. */
  static async open(deps: PublisherDeps): Promise<StreamPublisher> {
    const { store, now } = deps;
    await store.stream.begin(await store.events.latestSeq(), microseconds(now()));
    const cursor = (await store.stream.cursor()) ?? 0;
    const latest = await store.stream.latest();
    return new StreamPublisher(deps, cursor, latest?.publishedUs ?? (await store.stream.beganUs()));
  }

  /** Publishes all new events; the advisories before them are loaded. Must not run concurrently. */
  async publish(): Promise<void> {
    const { store } = this.#deps;
    for (;;) {
      const events = await store.events.since(this.#cursor, BATCH);
      const to = events.at(-1)?.seq;
      if (to === undefined) return;
      const drafts = (await Promise.all(events.map((event) => this.#draft(event)))).filter(
        (draft) => draft !== undefined,
      );
      const signed = await Promise.all(drafts.map((draft) => this.#sign(draft)));
      // If another process published them first, the next scheduler continues at its cursor.
      if (!(await store.stream.append(signed, { from: this.#cursor, to }))) throw new StoreError('superseded');
      this.#cursor = to;
      if (events.length < BATCH) return;
    }
  }

  async #draft(event: StoredEvent): Promise<Draft | undefined> {
    const id = `ev_${String(event.seq).padStart(10, '0')}`;
    switch (event.kind) {
      case 'change-confirmed': {
        const { payload } = event;
        const type = payload.type === 'migrated' ? 'migration' : 'service_change';
        const stored = { ...payload, at: new Date(payload.at), confirmedAt: new Date(payload.confirmedAt) };
        const body = {
          id,
          type,
          at: event.at.toISOString(),
          domain: event.domain,
          change: changeReport(stored, this.#deps.names),
        };
        const providers = [payload.from, payload.to].filter((provider) => provider !== null);
        return { type, domain: event.domain, providers, category: payload.category, body };
      }
      case 'anomaly-found': {
        const anomaly = await this.#deps.store.signals.anomaly(event.payload.anomalyId);
        if (!anomaly) return undefined;
        const { subjectKind, subject } = anomaly;
        const domain = subjectKind === 'domain' ? subject : null;
        const body = {
          id,
          type: 'anomaly',
          at: event.at.toISOString(),
          ...(domain === null ? {} : { domain }),
          anomaly: anomalyReport(anomaly, this.#deps.names),
        };
        const providers = subjectKind === 'provider' ? [subject] : [];
        return { type: 'anomaly', domain, providers, category: subjectKind === 'category' ? subject : null, body };
      }
      case 'advisory-touched':
        return this.#advisoryDraft(event, { id, ...event.payload, advisoryIds: [event.payload.advisoryId] });
      case 'domain-exposed':
        return this.#advisoryDraft(event, { id, reason: 'exposed', ...event.payload });
      case 'domain-changed':
      case 'posture-regressed':
      case 'domain-removed':
        return undefined;
      default:
        return event satisfies never;
    }
  }

  /** Asks nothing: the stream goes on while ClickHouse is away. Withdrawn advisories are not published. */
  #advisoryDraft(
    event: StoredEvent,
    { id, reason, advisoryIds, counts }: Pick<DomainExposed, 'advisoryIds' | 'counts'> & { id: string; reason: string },
  ): Draft | undefined {
    const { exposures, names } = this.#deps;
    const entries = advisoryIds.map((each) => exposures.advisories.find(each)).filter((entry) => entry !== undefined);
    if (entries.length === 0) return undefined;
    const body = {
      id,
      type: 'advisory',
      at: event.at.toISOString(),
      ...(event.domain === '' ? {} : { domain: event.domain }),
      reason,
      advisories: entries.map((entry) => advisoryNews(entry, counts?.[entry.advisory.id], names)),
    };
    const providers = [...new Set(entries.flatMap(({ products }) => products))];
    return { type: 'advisory', domain: event.domain === '' ? null : event.domain, providers, category: null, body };
  }

  async #sign({ body, ...rest }: Draft): Promise<Omit<StreamEvent, 'seq'>> {
    // A unique microsecond for each event, even if the clock stops or goes back: a time identifies one event.
    this.#lastUs = Math.max(microseconds(this.#deps.now()), this.#lastUs + 1);
    const publishedUs = this.#lastUs;
    const event = { _alpha: true, _notice: NOTICE, ...body, published_at: timeOf(publishedUs) };
    return { ...rest, publishedUs, body: await this.#deps.notary.sign(event) };
  }
}

interface Draft {
  readonly type: string;
  readonly domain: string | null;
  readonly providers: readonly string[];
  readonly category: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

export const microseconds = (time: Date): number => time.getTime() * 1_000;

/** Microseconds since the epoch as ISO 8601 UTC with six digits, `2026-01-31T12:00:00.000001Z`. */
export function timeOf(us: number): string {
  const ms = Math.floor(us / 1_000);
  const rest = String(us - ms * 1_000).padStart(3, '0');
  return new Date(ms).toISOString().replace('Z', `${rest}Z`);
}
