// Backends of the store of the stack service.
import { randomUUID } from 'node:crypto';
import type { Kysely, Logger } from 'kysely';
import { backendsOf } from '../../../../../tests/support/database/backends.ts';
import * as connections from '../../../../../tests/support/database/connections.ts';
import * as plans from '../../../../../tests/support/database/plans.ts';
import { openStore } from '../index.ts';
import type { Database } from '../schema.ts';

export * from '../../../../../tests/support/database/backends.ts';

export const { memory, file, postgres, kept, onEach } = backendsOf({
  name: 'stack',
  open: openStore,
  /** With a salt of its own, which it makes when it is opened. */
  asAnother: () => `delete from settings where name = 'address-salt';
    update settings set value = '${randomUUID()}' where name = 'store-id'`,
});

export const databaseOf = (url: string, log?: Logger) => connections.databaseOf<Database>(url, log);
export const plansOf = (url: string, work: (db: Kysely<Database>) => Promise<void>) => plans.plansOf(url, work);
