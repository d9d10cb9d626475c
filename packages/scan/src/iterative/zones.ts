// Zones as their parents delegate them: who serves them, for how long, and at which names no zone begins.
import { LRUCache } from 'lru-cache';
import type { Reading } from '../answer.ts';
import type { NameServer } from './name-server.ts';

/** A name of a server of a zone. */
export interface ServerHost {
  readonly name: string;
  /** Undefined until they are looked up, where no glue came along; empty when none are known or may be asked. */
  servers: readonly NameServer[] | undefined;
}

/** Why a server is not asked about a zone, and until when (monotonic ms). */
export interface Shun {
  readonly reading: Reading<unknown>;
  readonly untilMs: number;
  /** Times in a row that it was silent, and when it was last. What is lost of one burst is one silence. */
  readonly silences: number;
  readonly notedAt: number;
}

/** Its fields that change are what was found out while asking. */
export interface Zone {
  /** `''` is the root. */
  readonly name: string;
  readonly hosts: readonly ServerHost[];
  /** Servers that do not know the zone which they were named for, or are silent about it. */
  readonly shunned: Map<NameServer, Shun>;
  /**
   * Hosts looked up for their addresses, and since when (monotonic ms) they are counted: a delegation must not make us
   * ask for as many names as it likes (NXNSAttack).
   */
  lookUps: number;
  countedSince: number;
  /** The look-up that is under way. */
  finding: Promise<void> | undefined;
}

/** A referral (RFC 1034 §4.3.1), read and found to be within what its sender may say. */
export interface Referral {
  readonly zone: string;
  readonly hosts: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  readonly ttlSeconds: number;
}

/** Zones with their servers weigh about a kilobyte each. */
const MAX_ZONES = 50_000;
const MAX_JOINED = 50_000;
/** Even a delegation that allows no caching serves the questions of one probe; an hour is plenty, also for addresses. */
const MIN_TTL_MS = 30_000;
const MAX_TTL_MS = 3_600_000;
const LAME_MS = 300_000;
const SILENT_AFTER = 3;
const FIRST_SILENT_MS = 2_000;
const MAX_SILENT_MS = 300_000;
/** How long it is believed that no zone begins at a name. */
const JOINED_TTL_MS = 600_000;

export class Zones {
  #root: Zone;
  readonly #zones = new LRUCache<string, Zone>({ max: MAX_ZONES, ttl: MAX_TTL_MS, ttlResolution: 1_000 });
  readonly #joined = new LRUCache<string, true>({ max: MAX_JOINED, ttl: JOINED_TTL_MS, ttlResolution: 1_000 });

  constructor(roots: readonly NameServer[]) {
    this.#root = zoneOf('', [{ name: 'the roots', servers: roots }]);
  }

  get root(): Zone {
    return this.#root;
  }

  /** What is under way with the old ones goes on with them. */
  replaceRoot(hosts: readonly ServerHost[]): void {
    this.#root = zoneOf('', hosts);
  }

  /** The deepest known zone that the name is in. */
  closest(name: string): Zone {
    for (let at = name; at !== ''; at = parentOf(at)) {
      const zone = this.#zones.get(at);
      if (zone !== undefined) return zone;
    }
    return this.#root;
  }

  /** Keeps what the parent said; a zone that is known already stays as it is until its time is over. */
  keep(name: string, hosts: readonly ServerHost[], ttlSeconds: number): Zone {
    const known = this.#zones.get(name);
    if (known !== undefined) return known;
    const zone = zoneOf(name, hosts);
    this.#zones.set(name, zone, { ttl: Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, ttlSeconds * 1_000)) });
    return zone;
  }

  /** No zone begins at this name. */
  noteJoined(name: string): void {
    this.#joined.set(name, true);
  }

  isJoined(name: string): boolean {
    return this.#joined.has(name);
  }
}

/** The server does not know the zone: a mistake that takes its owner a while to mend. */
export function shunLame(zone: Zone, server: NameServer, reading: Reading<unknown>): void {
  zone.shunned.set(server, { reading, untilMs: performance.now() + LAME_MS, silences: 0, notedAt: 0 });
}

/** A few silences in a row, and the server is not asked about the zone for a while, twice as long each time. */
export function shunSilent(
  zone: Zone,
  server: NameServer,
  { reading, waitedMs }: { readonly reading: Reading<unknown>; readonly waitedMs: number },
): void {
  const now = performance.now();
  const before = zone.shunned.get(server);
  if (before !== undefined && now - waitedMs < before.notedAt) return;
  const silences = (before?.silences ?? 0) + 1;
  const times = silences - SILENT_AFTER;
  const forMs = times < 0 ? 0 : Math.min(MAX_SILENT_MS, FIRST_SILENT_MS * 2 ** times);
  zone.shunned.set(server, { reading, untilMs: now + forMs, silences, notedAt: now });
}

function zoneOf(name: string, hosts: readonly ServerHost[]): Zone {
  return { name, hosts, shunned: new Map(), lookUps: 0, countedSince: 0, finding: undefined };
}

/** `''` for a top-level domain. */
export function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}

/** Names down to this many labels are asked for one label at a time; below them zones hardly ever begin. */
const MAX_STEPWISE_LABELS = 3;

/**
 * The next name to ask for on the way from `above`, where no zone begins, down to `name`: one label more, so that each
 * server learns no more than it needs (RFC 9156), and no label that marks a record type, where no zone begins either.
 */
export function nextName(above: string, name: string): string {
  const labels = name.split('.');
  const depth = above === '' ? 0 : above.split('.').length;
  for (let count = depth + 1; count <= MAX_STEPWISE_LABELS && count < labels.length; count++) {
    if (!labels[labels.length - count]?.startsWith('_')) return labels.slice(-count).join('.');
  }
  return name;
}
