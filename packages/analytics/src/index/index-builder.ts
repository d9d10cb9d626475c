// Builds an index from all data at once: columns first, then all sets in one pass.
import { Builds } from '../columns/builds.ts';
import { DomainColumns } from '../columns/domain-columns.ts';
import { NameTable } from '../columns/name-table.ts';
import { Vocabulary } from '../columns/terms.ts';
import { ChangeHistory } from '../history/change-history.ts';
import { DomainIndex, factsOf, type IndexedDomain, type IndexPosition, packServices } from './domain-index.ts';

export class IndexBuilder {
  readonly #parts = {
    names: new NameTable(),
    columns: new DomainColumns(),
    vocabulary: new Vocabulary(),
    builds: new Builds(),
  };
  readonly history = new ChangeHistory();

  /** Each domain once. */
  put(domain: IndexedDomain): void {
    const { services, builds } = packServices(domain.services, this.#parts);
    this.#parts.names.add(domain.id, domain.name);
    this.#parts.columns.set(domain.id, factsOf(domain), services, builds);
  }

  /** The index; the builder must not be used any more. */
  build(position: IndexPosition): DomainIndex {
    const index = new DomainIndex({ ...this.#parts, history: this.history });
    index.position = position;
    return index;
  }
}
