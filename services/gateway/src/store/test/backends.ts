// Backends of the store of the gateway.
import type { Kysely } from 'kysely';
import { backendsOf } from '../../../../../tests/support/database/backends.ts';
import * as connections from '../../../../../tests/support/database/connections.ts';
import * as plans from '../../../../../tests/support/database/plans.ts';
import { openStore } from '../store.ts';
import type { GatewayDatabase } from '../tables.ts';

export const { kept, postgres, onEach } = backendsOf({
  name: 'gateway',
  open: openStore,
  asAnother: () => `delete from settings where name = 'address-salt'`,
});

export const databaseOf = (url: string) => connections.databaseOf<GatewayDatabase>(url);
export const plansOf = (url: string, work: (db: Kysely<GatewayDatabase>) => Promise<void>) => plans.plansOf(url, work);
