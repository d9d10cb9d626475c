// Answers from the name servers of the zones, found from the root down (RFC 1034 §5.3.3, RFC 9156); see docs/probing.md.
import { LRUCache } from 'lru-cache';
import { failed, type Reading } from '../answer.ts';
import type { AnswerSource, Asking, SourceStats } from '../answer-source.ts';
import { isAskable } from '../message.ts';
import type { RecordType } from '../records.ts';
import { conclude, type Failure, readExchange } from '../tries.ts';
import { StopSwitch, type Upstream } from '../udp-channel.ts';
import { chooseServer, type Tried } from './choose-server.ts';
import { Priming } from './priming.ts';
import { type Asked, type Reply, readReply } from './read-reply.ts';
import { ROOT_ADDRESSES } from './root-hints.ts';
import { ServerBook } from './server-book.ts';
import { ServerWire } from './server-wire.ts';
import { nextName, parentOf, type Referral, shunLame, shunSilent, type Zone, Zones } from './zones.ts';

export interface IterativeOptions {
  /** The Internet's when empty. All other servers are asked at the port of the first. */
  readonly roots: readonly Upstream[];
  /** Whether the roots are asked who they are (RFC 9609); those that the operator named are taken as they are. */
  readonly isPrimed: boolean;
  readonly tryTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly maxInFlight: number;
  readonly allowAddresses: readonly string[];
}

const DNS_PORT = 53;
/** Packets that one question may cost, all that it leads to counted; a usual one costs one to three. */
const MAX_PACKETS = 32;
/** Tries of a question at a zone's servers: enough for two that are down and two lost packets. */
const MAX_TRIES = 6;
/** Hosts of a delegation that are looked up before it is given up, and after what time again (NXNSAttack). */
const MAX_LOOK_UPS = 3;
const LOOK_UPS_EVERY_MS = 30_000;
/** A host's zone may itself be served by hosts that have to be looked up. */
const MAX_DEPTH = 3;
const MAX_HOSTS = 50_000;
const HOST_TTL_MS = 3_600_000;
const MIN_HOST_TTL_MS = 30_000;

/** What one question may still take; what it leads to takes from the same. */
interface Budget {
  leftMs: number;
  packets: number;
}

interface Task {
  /**
   * 0 for a question, and one more for each look-up of a name server's address on the way to it. Only tasks of depth 0
   * wait for work that others began, and no such work waits in turn: so there is no ring of waiting.
   */
  readonly depth: number;
  readonly budget: Budget;
  readonly stop: StopSwitch;
}

type Outcome = Extract<Reply, { kind: 'referral' }> | { readonly kind: 'end'; readonly reading: Reading<unknown> };
/** What is at a name on the way: a zone, none, or something that only the whole question can tell. */
type Step = Zone | 'joined' | 'unclear';

export class IterativeSource implements AnswerSource {
  readonly upstreams: readonly string[] = [];
  readonly #options: IterativeOptions;
  readonly #book: ServerBook;
  readonly #zones: Zones;
  readonly #wire = new ServerWire();
  readonly #priming: Priming | undefined;
  readonly #steps = new Map<string, Promise<Step>>();
  readonly #hosts = new LRUCache<string, readonly string[]>({
    max: MAX_HOSTS,
    ttl: HOST_TTL_MS,
    ttlResolution: 1_000,
  });
  readonly #lookingUp = new Map<string, Promise<readonly string[]>>();
  #failures = 0;

  constructor(options: IterativeOptions) {
    const { roots, maxInFlight, allowAddresses } = options;
    this.#options = options;
    this.#book = new ServerBook({ port: roots[0]?.port ?? DNS_PORT, maxInFlight, allowAddresses });
    this.#zones = new Zones(roots.length > 0 ? this.#book.named(roots) : this.#book.at(ROOT_ADDRESSES));
    const parts = { book: this.#book, zones: this.#zones };
    if (options.isPrimed) this.#priming = new Priming(parts, { timeoutMs: options.tryTimeoutMs });
  }

  stats(): SourceStats {
    return { ...this.#wire.stats, failures: this.#failures };
  }

  async ask({ question, type }: Asking, stop: StopSwitch): Promise<Reading<unknown>> {
    this.#priming?.beginWhenDue();
    const reading = await this.#resolve(question, type, this.#newTask(stop));
    const { status } = reading.lookup;
    if (status !== 'found' && status !== 'empty' && status !== 'nxdomain' && status !== 'skipped') this.#failures += 1;
    return reading;
  }

  #newTask(stop = new StopSwitch(), depth = 0): Task {
    return { depth, stop, budget: { leftMs: this.#options.totalTimeoutMs, packets: MAX_PACKETS } };
  }

  /** Ends because each turn leads to a zone or a name further down. */
  async #resolve(name: string, type: RecordType, task: Task): Promise<Reading<unknown>> {
    // DS stands in the parent's zone (RFC 4035 §2.4).
    let zone = this.#zones.closest(type === 'DS' ? parentOf(name) : name);
    let above = zone.name;
    for (;;) {
      const next = nextName(above, name);
      if (next === name) {
        const outcome = await this.#askZone(zone, { zone: zone.name, name, type }, task);
        if (outcome.kind === 'end') return outcome.reading;
        zone = this.#enter(outcome.referral);
        above = zone.name;
        continue;
      }
      const step = this.#zones.isJoined(next) ? 'joined' : await this.#step(zone, next, task);
      // Some servers deny names that only have others below them: the whole name decides (RFC 9156 §2.3).
      if (step === 'unclear') above = parentOf(name);
      else if (step === 'joined') above = next;
      else {
        zone = step;
        above = zone.name;
      }
    }
  }

  /** One step down; many questions begin with the same one, and share it. */
  #step(zone: Zone, next: string, task: Task): Promise<Step> {
    if (task.depth > 0) return this.#stepAlone(zone, next, task);
    const key = `${zone.name} ${next}`;
    let step = this.#steps.get(key);
    if (step === undefined) {
      // No caller's own task: it must not end with the first of them to leave.
      step = this.#stepAlone(zone, next, this.#newTask()).finally(() => this.#steps.delete(key));
      this.#steps.set(key, step);
    }
    return step;
  }

  async #stepAlone(zone: Zone, next: string, task: Task): Promise<Step> {
    const outcome = await this.#askZone(zone, { zone: zone.name, name: next, type: 'A' }, task);
    if (outcome.kind === 'referral') return this.#enter(outcome.referral);
    const { status, aliases } = outcome.reading.lookup;
    if (status !== 'found' && status !== 'empty' && aliases.length === 0) return 'unclear';
    this.#zones.noteJoined(next);
    return 'joined';
  }

  #enter({ zone, hosts, ttlSeconds }: Referral): Zone {
    const known = hosts.map(({ name, addresses }) => {
      const servers = this.#book.at(addresses);
      return { name, servers: addresses.length > 0 ? servers : undefined };
    });
    return this.#zones.keep(zone, known, ttlSeconds);
  }

  /** Asks the servers of a zone until one has an answer or a referral. */
  async #askZone(zone: Zone, asked: Asked, task: Task): Promise<Outcome> {
    const failures: Failure[] = [];
    const tried: Tried = new Map();
    let hearsay: Reading<unknown> | undefined;
    for (let i = 0; i < MAX_TRIES; i++) {
      const server = chooseServer(zone, tried) ?? (await this.#findServer(zone, tried, task));
      if (server === undefined) break;
      const { budget, stop } = task;
      if (stop.isStopped) return { kind: 'end', reading: failed('skipped', 'given up before the answer') };
      if (budget.leftMs <= 0 || budget.packets <= 0) {
        const reading = failed<never>('timeout', 'no answer within what a question may take');
        failures.push({ label: zone.name || 'the root', reading });
        break;
      }
      // Asked again, a server may take all the time there is: a slow zone on a fast server looks like a lost packet.
      const waitMs = tried.has(server) ? this.#options.tryTimeoutMs : server.waitMs * 2 ** i;
      const timeoutMs = Math.min(this.#options.tryTimeoutMs, budget.leftMs, waitMs);
      const sent = await this.#wire.ask(server, { ...asked, timeoutMs }, stop);
      const { exchange, query } = sent;
      budget.packets -= 1;
      budget.leftMs -= sent.tookMs;
      if (exchange.kind === 'stopped') continue;
      const reply: Reply =
        exchange.kind === 'answer'
          ? readReply(exchange.bytes, query, asked)
          : { kind: 'failure', reading: readExchange(exchange, query, asked) };
      if (exchange.kind === 'answer' && zone.shunned.size > 0) zone.shunned.delete(server);
      if (reply.kind === 'answer') return { kind: 'end', reading: reply.reading };
      if (reply.kind === 'referral') return reply;
      if (reply.kind === 'hearsay') hearsay ??= reply.reading;
      if (reply.kind === 'lame') shunLame(zone, server, reply.reading);
      else if (exchange.kind === 'timeout') shunSilent(zone, server, { reading: reply.reading, waitedMs: sent.tookMs });
      failures.push({ label: server.label, reading: reply.reading });
      // Who was silent may have lost a packet, and who answered about other names may have been outrun.
      const mayDoBetter = exchange.kind === 'timeout' || reply.reading.isAstray === true;
      tried.set(server, mayDoBetter ? (tried.get(server) ?? 0) + 1 : Number.POSITIVE_INFINITY);
    }
    if (hearsay !== undefined) return { kind: 'end', reading: hearsay };
    if (task.stop.isStopped) return { kind: 'end', reading: failed('skipped', 'given up before the answer') };
    if (failures.length === 0) failures.push(...whyNobody(zone));
    return { kind: 'end', reading: conclude(failures) };
  }

  /** Looks for servers where the parent told names only, or where those it told addresses of have failed. */
  async #findServer(zone: Zone, tried: Tried, task: Task) {
    if (task.depth > 0) await this.#lookUpHosts(zone, task);
    else {
      zone.finding ??= this.#lookUpHosts(zone, this.#newTask()).finally(() => {
        zone.finding = undefined;
      });
      await zone.finding;
    }
    return chooseServer(zone, tried);
  }

  /** Until one is found, and never more than a few. */
  async #lookUpHosts(zone: Zone, task: Task): Promise<void> {
    const now = performance.now();
    if (now - zone.countedSince > LOOK_UPS_EVERY_MS) {
      zone.countedSince = now;
      zone.lookUps = 0;
      // What could not be found then may be found now.
      for (const host of zone.hosts) if (host.servers?.length === 0) host.servers = undefined;
    }
    for (const host of zone.hosts) {
      if (host.servers !== undefined) continue;
      if (zone.lookUps >= MAX_LOOK_UPS || task.depth >= MAX_DEPTH || task.stop.isStopped) return;
      zone.lookUps += 1;
      host.servers = this.#book.at(await this.#addressesOf(host.name, task));
      if (host.servers.length > 0) return;
    }
  }

  #addressesOf(host: string, task: Task): Promise<readonly string[]> {
    const known = this.#hosts.get(host);
    if (known !== undefined) return Promise.resolve(known);
    if (task.depth > 0) return this.#lookUp(host, { ...task, depth: task.depth + 1 });
    let work = this.#lookingUp.get(host);
    if (work === undefined) {
      work = this.#lookUp(host, this.#newTask(new StopSwitch(), 1)).finally(() => this.#lookingUp.delete(host));
      this.#lookingUp.set(host, work);
    }
    return work;
  }

  async #lookUp(host: string, task: Task): Promise<readonly string[]> {
    if (!isAskable(host)) return [];
    let { lookup, ttlSeconds } = await this.#resolve(host, 'A', task);
    if (lookup.records.length === 0 && this.#book.hasV6)
      ({ lookup, ttlSeconds } = await this.#resolve(host, 'AAAA', task));
    const addresses = lookup.records as readonly string[];
    const ttl = Math.min(HOST_TTL_MS, Math.max(MIN_HOST_TTL_MS, ttlSeconds * 1_000));
    this.#hosts.set(host, addresses, { ttl });
    return addresses;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#priming?.[Symbol.asyncDispose]();
    await this.#wire[Symbol.asyncDispose]();
  }
}

/** Why there is nobody to ask about a zone. */
function whyNobody(zone: Zone): Failure[] {
  const now = performance.now();
  const known = [...new Set(zone.hosts.flatMap(({ servers = [] }) => servers))];
  const label = zone.name || 'the root';
  if (known.length === 0) return [{ label, reading: failed('servfail', 'no name server that can be asked') }];
  return known.slice(0, 4).map((server) => {
    const shun = zone.shunned.get(server);
    if (shun !== undefined && shun.untilMs > now) return { label: `${server.label}, lately`, reading: shun.reading };
    return { label: server.label, reading: failed('timeout', 'silent lately about many zones') };
  });
}
