// Processes in all roles at work on one PostgreSQL; one that was killed is started anew in its slot.
import { openStore } from '@strata/store';
import { createInternet } from '@strata/testnet';
import { type NodeRole, type TestNode, type TestNodes, testNodes } from './nodes.ts';
import { randomFrom } from './random.ts';
import { untilAnswer } from './until.ts';

/** Two of each: whatever happens to one of them, another is online. */
export const TWO_OF_EACH: readonly NodeRole[] = ['api', 'api', 'scanner', 'scanner', 'scheduler', 'scheduler'];
/** Domains are scanned again after seconds, so that scanners never wait. */
const CONTINUOUS_RESCAN = { STRATA_RESCAN_HOURS: '0.003', STRATA_ON_DEMAND_PER_HOUR: '100000' };
const DOMAINS = 60;

type Settings = Readonly<Record<string, string>>;

interface Slot {
  readonly role: NodeRole;
  node: TestNode | undefined;
  starting: Promise<void>;
}

export class Fleet {
  readonly #nodes: TestNodes;
  readonly #slots: readonly Slot[];
  readonly #settingsOf: (slot: number) => Settings;
  readonly #random = randomFrom(1);
  readonly killed: Record<string, number> = {};

  /** `own`: settings of the process of a slot; slots count from 0, in the order of `TWO_OF_EACH`. */
  constructor(nodes: TestNodes, own: (slot: number) => Settings) {
    this.#nodes = nodes;
    this.#settingsOf = (slot) => ({ ...CONTINUOUS_RESCAN, ...own(slot) });
    this.#slots = TWO_OF_EACH.map((role) => ({ role, node: undefined, starting: Promise.resolve() }));
    for (const slot of this.#slots) this.#start(slot);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#slots.map(({ starting }) => starting));
  }

  /** Those that are not known to be offline. */
  all(only?: NodeRole): readonly TestNode[] {
    return this.#slots.flatMap(({ role, node }) => (node && role === (only ?? role) ? [node] : []));
  }

  /** Some API node that is not known to be offline. */
  async api(): Promise<TestNode> {
    return (await untilAnswer('an API node is online', () => this.#oneOf(this.all('api')))) as TestNode;
  }

  async killOne(): Promise<void> {
    const slot = this.#oneOf(this.#slots.filter(({ node }) => node !== undefined));
    if (!slot?.node) return this.settled();
    const { node } = slot;
    slot.node = undefined;
    this.killed[slot.role] = (this.killed[slot.role] ?? 0) + 1;
    await node.kill();
    this.#start(slot);
  }

  #start(slot: Slot): void {
    slot.starting = (async () => {
      slot.node = await this.#nodes.start(slot.role, this.#settingsOf(this.#slots.indexOf(slot)));
    })();
    // A failure is that of settled().
    slot.starting.catch(() => {});
  }

  #oneOf<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.#random() * all.length)];
  }
}

export type FleetAtWork = Awaited<ReturnType<typeof startFleet>>;

/** Half of the companies are on the list and were scanned once; processes have the database `reachedAt`. */
export async function startFleet(
  databaseUrl: string,
  { reachedAt = databaseUrl, own = (_slot: number): Settings => ({}) } = {},
) {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openStore(databaseUrl, { poolSize: 3 }));
  const internet = stack.use(await createInternet({ domains: DOMAINS, hasFaults: false }));
  const [scheduled, asked] = [internet.domains().slice(0, DOMAINS / 2), internet.domains().slice(DOMAINS / 2)];
  await store.addDomains(scheduled, { source: 'test' });
  const nodes = stack.use(await testNodes({ databaseUrl: reachedAt, domains: DOMAINS, canApiScan: true }));
  const fleet = new Fleet(nodes, own);
  await fleet.settled();
  const counted = async () => (await store.counts()).scannedDomains;
  await untilAnswer('all domains are scanned once', counted, (count) => count >= scheduled.length);
  const owned = stack.move();
  return { databaseUrl, store, fleet, asked, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
