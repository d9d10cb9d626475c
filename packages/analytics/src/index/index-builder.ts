// Builds an index from all data at once: columns first, then all sets in one pass.
import { Builds } from '../columns/builds.ts';
import { DomainColumns } from '../columns/domain-columns.ts';
import { NameTable } from '../columns/name-table.ts';
import { Vocabulary } from '../columns/terms.ts';
import {
  ChangeHistory,
  type CountedScans,
  type DayOfChanges,
  type IndexedMigration,
} from '../history/change-history.ts';
import { DomainIndex, factsOf, type IndexedDomain, type IndexPosition, packServices } from './domain-index.ts';

export class IndexBuilder {
  readonly #names = new NameTable();
  readonly #columns = new DomainColumns();
  readonly #vocabulary = new Vocabulary();
  readonly #builds = new Builds();
  readonly #history = new ChangeHistory();

  /** Each domain once. */
  put(domain: IndexedDomain): void {
    const of = { vocabulary: this.#vocabulary, builds: this.#builds };
    const { services, builds } = packServices(domain.services, of);
    this.#names.add(domain.id, domain.name);
    this.#columns.set(domain.id, factsOf(domain), services, builds);
  }

  addChanges(day: DayOfChanges): void {
    this.#history.addDay(day);
  }

  /** Adds a migration of the last `FLOW_DAYS` to the flows; its day's counts include it already. */
  addMigration(migration: IndexedMigration): void {
    this.#history.addMigration(migration);
  }

  addScans(day: number, scans: CountedScans): void {
    this.#history.addScans(day, scans);
  }

  /** The index; the builder must not be used any more. */
  build(position: IndexPosition): DomainIndex {
    const index = new DomainIndex({
      names: this.#names,
      columns: this.#columns,
      vocabulary: this.#vocabulary,
      builds: this.#builds,
      history: this.#history,
    });
    index.position = position;
    return index;
  }
}
