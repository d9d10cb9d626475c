// Builds an index from everything at once: columns first, the sets from them in one go.
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

  /** Of the last `FLOW_DAYS`; it is counted by its day already. */
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
