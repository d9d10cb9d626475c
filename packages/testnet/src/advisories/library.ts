// All vulnerabilities known to the publishers, and their history of changes.
import { hashOf, randomFor } from '../random.ts';
import { type Bulk, bulkOf, PACKAGE_EVERY } from './bulk.ts';
import type { VulnerabilityFacts } from './facts.ts';

export interface Entry {
  readonly facts: VulnerabilityFacts;
  readonly publishedAt: number;
  readonly modifiedAt: number;
}

/** The changes of one moment, as the CVE List logs them. */
export interface Delta {
  readonly at: number;
  readonly added: readonly string[];
  readonly updated: readonly string[];
}

interface LibraryOptions {
  readonly seed: string;
  readonly now: () => Date;
  readonly records: readonly VulnerabilityFacts[];
  readonly bulk: number;
}

/** The bulk never changes; every other record may. */
export class Library {
  readonly bulk: Bulk;
  readonly now: () => Date;
  readonly #seed: string;
  readonly #entries = new Map<string, Entry>();
  #sorted: readonly Entry[] | undefined;
  #deltas: readonly Delta[];
  #day = 0;
  #revision = 0;
  #changedAt: number;
  #listedAt: number;

  constructor({ seed, now, records, bulk }: LibraryOptions) {
    this.#seed = seed;
    this.now = now;
    this.bulk = bulkOf(seed, bulk);
    for (const facts of records) this.#entries.set(facts.id, entryOf(facts));
    this.#changedAt = now().getTime();
    this.#listedAt = this.#changedAt;
    this.#deltas = [{ at: this.#changedAt, added: [], updated: [] }];
  }

  /** Days that have passed since the start. */
  get day(): number {
    return this.#day;
  }

  /** Increases with every change and every day. */
  get revision(): number {
    return this.#revision;
  }

  get changedAt(): number {
    return this.#changedAt;
  }

  /** When CISA's list last changed. */
  get listedAt(): number {
    return this.#listedAt;
  }

  /** Newest first. */
  get deltas(): readonly Delta[] {
    return this.#deltas;
  }

  /** All but the bulk, in order of publication. */
  entries(): readonly Entry[] {
    this.#sorted ??= [...this.#entries.values()].sort(
      (a, b) => a.publishedAt - b.publishedAt || (a.facts.id < b.facts.id ? -1 : 1),
    );
    return this.#sorted;
  }

  bulkEntry(index: number): Entry {
    return {
      facts: this.bulk.at(index),
      publishedAt: this.bulk.publishedAt(index),
      modifiedAt: this.bulk.modifiedAt(index),
    };
  }

  /** The bulk's package records. */
  *packaged(): Generator<Entry> {
    for (let index = 0; index < this.bulk.size; index += PACKAGE_EVERY) yield this.bulkEntry(index);
  }

  /** Every record, lazily. */
  *all(): Generator<Entry> {
    for (let index = 0; index < this.bulk.size; index += 1) yield this.bulkEntry(index);
    yield* this.entries();
  }

  find(id: string): Entry | undefined {
    const index = this.bulk.indexOf(id);
    return this.#entries.get(id) ?? (index === undefined ? undefined : this.bulkEntry(index));
  }

  /** A record that may change. Throws RangeError for an unknown id. */
  known(id: string): VulnerabilityFacts {
    const entry = this.#entries.get(id);
    if (!entry) throw new RangeError(`no record '${id}'`);
    return entry.facts;
  }

  /** Adds or replaces records, all at the same moment. */
  put(records: readonly VulnerabilityFacts[]): void {
    if (records.length === 0) return;
    const at = this.now().getTime();
    const isNew = (facts: VulnerabilityFacts) => !this.#entries.has(facts.id);
    const added = records.filter(isNew).map((facts) => facts.id);
    const updated = records.filter((facts) => !isNew(facts)).map((facts) => facts.id);
    for (const facts of records) {
      const before = this.#entries.get(facts.id)?.facts;
      if (before?.kev !== facts.kev || (facts.kev && before?.isRejected !== facts.isRejected)) this.#listedAt = at;
      this.#entries.set(facts.id, { ...entryOf(facts), modifiedAt: at });
    }
    this.#sorted = undefined;
    this.#deltas = [{ at, added, updated }, ...this.#deltas];
    this.#revision += 1;
    this.#changedAt = at;
  }

  nextDay(): void {
    this.#day += 1;
    this.#revision += 1;
  }

  /** Today's EPSS score of a record: it changes slightly every day. */
  scoreOf({ id, epss = 0.0005 }: VulnerabilityFacts): number {
    if (this.#day === 0) return epss;
    const moved = epss * (0.95 + 0.1 * randomFor(this.#seed, id, 'epss', this.#day).next());
    return Math.min(0.99999, Math.max(0.00001, moved));
  }
}

/** The time of day is derived from the id, so that no two are exactly equal. */
function entryOf(facts: VulnerabilityFacts): Entry {
  const publishedAt = timeOf(facts.published, facts.id);
  const modifiedAt = facts.modified ? timeOf(facts.modified, facts.id) : publishedAt + 14 * 86_400_000;
  return { facts, publishedAt, modifiedAt };
}

function timeOf(date: string, id: string): number {
  return date.length > 10 ? Date.parse(date) : Date.parse(`${date}T12:00:00Z`) + (hashOf(id) % 36_000) * 1_000;
}
