// Processes in roles at work on one store; a killed one is restarted in its slot, with its data.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { openStore } from '@strata/stack/store';
import { createInternet } from '@strata/testnet';
import { Checker } from '../survival/checker/check.ts';
import { type NodeRole, type TestNode, type TestNodes, testNodes } from './nodes.ts';
import { randomFrom } from './random.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { untilAnswer } from './until.ts';

/** Two of each: whatever happens to one of them, another is online. */
export const TWO_OF_EACH: readonly NodeRole[] = ['api', 'api', 'scanner', 'scanner', 'scheduler', 'scheduler'];
/** Domains are scanned again after seconds, so that scanners never wait. */
const CONTINUOUS_RESCAN = { STRATA_SCAN_OPTIONS: 'rescan-hours=0.003,on-demand-per-hour=100000' };
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

  /** `settingsOf` the process of a slot, each time that it starts; slots count from 0, in the order of the roles. */
  constructor(nodes: TestNodes, roles: readonly NodeRole[], settingsOf: (slot: number) => Settings) {
    this.#nodes = nodes;
    this.#settingsOf = settingsOf;
    this.#slots = roles.map((role) => ({ role, node: undefined, starting: Promise.resolve() }));
    for (const slot of this.#slots) this.#start(slot);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#slots.map(({ starting }) => starting));
  }

  /** Those that are not known to be offline. */
  all(only?: NodeRole): readonly TestNode[] {
    return this.#slots.flatMap(({ role, node }) => (node && role === (only ?? role) ? [node] : []));
  }

  /** Some node with an API that is not known to be offline. */
  async api(): Promise<TestNode> {
    const apis = () => [...this.all('api'), ...this.all('all')];
    return (await untilAnswer('an API node is online', () => this.#oneOf(apis()))) as TestNode;
  }

  /** Kills a process, by default any of them, and starts another in its slot. */
  async kill(victim = this.#oneOf(this.all())): Promise<void> {
    const slot = this.#slots.find(({ node }) => node === victim);
    if (!slot || !victim) return this.settled();
    slot.node = undefined;
    this.killed[slot.role] = (this.killed[slot.role] ?? 0) + 1;
    await victim.kill();
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

interface FleetOptions {
  readonly roles?: readonly NodeRole[];
  /** By default the store's own address. */
  readonly reachedAt?: string;
  readonly own?: (slot: number) => Settings;
  /** Of all data. */
  readonly directory?: string;
}

export type FleetAtWork = Awaited<ReturnType<typeof startFleet>>;

/** Half of the companies are on the list, and each process that scans has a domain that moves. */
export async function startFleet(databaseUrl: string, options: FleetOptions = {}) {
  const { roles = TWO_OF_EACH, reachedAt = databaseUrl, own = () => ({}) } = options;
  await using stack = new AsyncDisposableStack();
  const directory = options.directory ?? stack.use(await temporaryDirectory()).path;
  const names = await namesOfCompanies();
  const [scheduled, asked] = [names.slice(0, DOMAINS / 2), names.slice(DOMAINS / 2)];
  const key = await fill(databaseUrl, scheduled);
  const dataOf = (slot: number) => path.join(directory, `slot-${slot}`);
  const settingsOf = (slot: number) => ({
    ...{ ...CONTINUOUS_RESCAN, STRATA_FREE_KEYS_PER_DAY: '1000000', STRATA_DATA: dataOf(slot) },
    ...(['all', 'scanner'].includes(roles[slot] ?? '') ? { TEST_MOVING: `moving-${slot}.example` } : {}),
    ...own(slot),
  });
  for (const slot of roles.keys()) await mkdir(dataOf(slot), { recursive: true });
  const nodes = stack.use(await testNodes({ databaseUrl: reachedAt, domains: DOMAINS, canApiScan: true }));
  const fleet = new Fleet(nodes, roles, settingsOf);
  await fleet.settled();
  return Object.assign(stack.move(), { ...{ databaseUrl, fleet, asked, key, dataOf, checker: new Checker() } });
}

async function namesOfCompanies(): Promise<readonly string[]> {
  await using internet = await createInternet({ domains: DOMAINS, hasFaults: false });
  return internet.domains();
}

/** Puts domains on the list; resolves with a key without a limit. The store is closed again, as where its only process is killed. */
async function fill(databaseUrl: string, domains: readonly string[]): Promise<string> {
  await using store = await openStore(databaseUrl, { poolSize: 1 });
  await store.domains.add(domains, { source: 'test' });
  return (await store.keys.create({ tier: 'unlimited' })).key;
}
