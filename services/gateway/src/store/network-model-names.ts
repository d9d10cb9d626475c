// Names of network models that the gateways of a database serve or have served: after a start, requests for one whose workers are not
// back yet are asked to retry. Each gateway adds its own names to those of the other gateways.
import { readSetting, writeSetting, writeTransaction } from '@strata/db';
import type { Kysely } from 'kysely';
import { DAY_MS } from './access/policy.ts';
import type { GatewayDatabase } from './tables.ts';

/** Name of the setting: a JSON object with the time when each name was added last; an array of names in earlier versions. */
const SETTING = 'network-models';
const KEPT_MS = 30 * DAY_MS;
const MAX_NAMES = 1_000;

export class NetworkModelNames {
  readonly #db: Kysely<GatewayDatabase>;
  readonly #now: () => Date;

  constructor(db: Kysely<GatewayDatabase>, now: () => Date) {
    this.#db = db;
    this.#now = now;
  }

  async read(): Promise<readonly string[]> {
    return Object.keys(addedIn(await readSetting(this.#db, SETTING), 0));
  }

  /** Adds the names, and drops those that no gateway has added for a month. */
  async add(ids: readonly string[]): Promise<void> {
    const nowMs = this.#now().getTime();
    await writeTransaction(this.#db, async (tx) => {
      const known = addedIn(await readSetting(tx, SETTING), nowMs);
      const merged = { ...known, ...Object.fromEntries(ids.map((id) => [id, nowMs])) };
      const kept = Object.entries(merged).filter(([, addedAt]) => nowMs - addedAt < KEPT_MS);
      const newest = kept.toSorted(([, a], [, b]) => b - a).slice(0, MAX_NAMES);
      await tx.executeQuery(writeSetting(tx, SETTING, JSON.stringify(Object.fromEntries(newest))));
    });
  }
}

/** When each name was added last; `earlierMs`: those that an earlier version has stored. */
function addedIn(text: string | undefined, earlierMs: number): Readonly<Record<string, number>> {
  // Written here, or by an earlier version.
  const stored = JSON.parse(text ?? '{}') as Record<string, number> | string[];
  return Array.isArray(stored) ? Object.fromEntries(stored.map((name) => [name, earlierMs])) : stored;
}
