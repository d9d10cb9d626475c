// Places for processes in roles, all on one PostgreSQL; one that was killed is started anew in its place.
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeRole, TestNode, TestNodes } from './nodes.ts';

/** Two of each: whatever happens to one of them, another is there. */
export const TWO_OF_EACH: readonly NodeRole[] = ['api', 'api', 'scanner', 'scanner', 'scheduler', 'scheduler'];
/** Domains are looked at again after seconds, so that scanners never rest. */
export const RESTLESS = { STRATA_RESCAN_HOURS: '0.003', STRATA_ON_DEMAND_PER_HOUR: '100000' };

type Settings = Readonly<Record<string, string>>;

interface Place {
  readonly role: NodeRole;
  node: TestNode | undefined;
  starting: Promise<void>;
}

export interface FleetOptions {
  readonly roles?: readonly NodeRole[];
  readonly settings?: Settings;
  /** What the process of a place has besides; places count from 0, in the order of `roles`. */
  readonly own?: (place: number) => Settings;
}

export class Fleet {
  readonly #nodes: TestNodes;
  readonly #places: readonly Place[];
  readonly #settingsOf: (place: number) => Settings;
  readonly killed: Record<string, number> = {};

  constructor(nodes: TestNodes, { roles = TWO_OF_EACH, settings = RESTLESS, own = () => ({}) }: FleetOptions = {}) {
    this.#nodes = nodes;
    this.#settingsOf = (place) => ({ ...settings, ...own(place) });
    this.#places = roles.map((role) => ({ role, node: undefined, starting: Promise.resolve() }));
  }

  async startAll(): Promise<void> {
    for (const place of this.#places) place.starting = this.#start(place);
    await this.settled();
  }

  async settled(): Promise<void> {
    await Promise.all(this.#places.map(({ starting }) => starting));
  }

  /** Those that are not known to be gone. */
  of(...roles: readonly NodeRole[]): readonly TestNode[] {
    return this.#places.flatMap(({ role, node }) => (node && roles.includes(role) ? [node] : []));
  }

  all(): readonly TestNode[] {
    return this.of('all', 'api', 'scanner', 'scheduler');
  }

  /** Some API node that is not known to be gone. */
  async api(): Promise<TestNode> {
    for (;;) {
      const apis = this.of('api');
      const one = apis[Math.floor(Math.random() * apis.length)];
      if (one) return one;
      await delay(20);
    }
  }

  async killOne(): Promise<void> {
    const alive = this.#places.filter(({ node }) => node !== undefined);
    const place = alive[Math.floor(Math.random() * alive.length)];
    if (!place?.node) return this.settled();
    const { node } = place;
    place.node = undefined;
    this.killed[place.role] = (this.killed[place.role] ?? 0) + 1;
    await node.kill();
    place.starting = this.#start(place);
  }

  async #start(place: Place): Promise<void> {
    place.node = await this.#nodes.start(place.role, this.#settingsOf(this.#places.indexOf(place)));
  }
}
