// Builds an index from all data at once: columns first, then all sets in one pass.
import type { RoleOf } from '@strata/detect';
import { Builds } from '../columns/builds.ts';
import { DomainColumns } from '../columns/domain-columns.ts';
import { NameTable } from '../columns/name-table.ts';
import { Vocabulary } from '../columns/terms.ts';
import { ChangeHistory } from '../history/change-history.ts';
import { DomainIndex, factsOf, type IndexedDomain, type IndexPosition, packServices } from './domain-index.ts';

export class IndexBuilder {
  readonly #parts;
  readonly history = new ChangeHistory();

  /** `roleOf`: the rulebook's. */
  constructor(roleOf?: RoleOf) {
    this.#parts = {
      names: new NameTable(),
      columns: new DomainColumns(),
      vocabulary: new Vocabulary([], [], roleOf),
      builds: new Builds(),
    };
  }

  /** Each domain once. */
  put(domain: IndexedDomain): void {
    const { services, builds } = packServices(domain.services, this.#parts);
    this.#parts.names.add(domain.id, domain.name);
    this.#parts.columns.set(domain.id, factsOf(domain), services, builds);
  }

  /** The index; the builder must not be used any more. */
  build(position: IndexPosition): DomainIndex {
    const { names, columns } = this.#parts;
    for (let page = 0; page < names.pages.count; page += 1) {
      names.pages.at(page)?.trim();
      columns.pages.at(page)?.services.trim();
    }
    const index = new DomainIndex({ ...this.#parts, history: this.history });
    index.position = position;
    return index;
  }
}
