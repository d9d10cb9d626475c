// Stores as version 018 made them, when every store had the tables of all services.
import type { Migrations } from '@strata/db';
import { migrations as ofGateway } from '../../../services/gateway/src/store/migrations.ts';
import { migrations as ofStack } from '../../../services/stack/src/store/migrations/index.ts';

const isReleased = (name: string) => name < '019';
const doesNothing = ofStack['004-answers'];

/** The migrations of the stack service create the tables of all but the gateway and the worker. */
export const released: Migrations = Object.fromEntries(
  Object.entries(ofStack)
    .filter(([name]) => isReleased(name))
    .map(([name, up]) => [name, up === doesNothing ? (ofGateway[name] ?? up) : up]),
);
