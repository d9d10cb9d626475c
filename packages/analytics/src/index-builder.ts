// Builds an index from everything at once: columns first, the sets from them in one go.
import { ChangeHistory, type CountedScans, type IndexedChange } from './change-history.ts';
import { DomainColumns } from './domain-columns.ts';
import { DomainIndex, factsOf, type IndexedDomain, type IndexPosition, packServices } from './domain-index.ts';
import { NameTable } from './name-table.ts';
import { Vocabulary } from './terms.ts';

export class IndexBuilder {
  readonly #names = new NameTable();
  readonly #columns = new DomainColumns();
  readonly #vocabulary = new Vocabulary();
  readonly #history = new ChangeHistory();

  /** Each domain once. */
  put(domain: IndexedDomain): void {
    const services = packServices(domain.services, this.#vocabulary);
    this.#names.add(domain.id, domain.name);
    this.#columns.set(domain.id, factsOf(domain), services);
  }

  addChange(change: IndexedChange): void {
    this.#history.add(change);
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
      history: this.#history,
    });
    index.position = position;
    return index;
  }
}
