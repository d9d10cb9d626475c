// A stub resolver for scanning: several upstreams, retries, TCP on truncation, shared questions, a cache that obeys TTLs.
import { randomInt } from 'node:crypto';
import { getServers } from 'node:dns';
import type { Lookup, LookupStatus } from '@strata/detect';
import { LRUCache } from 'lru-cache';
import { exchangeOverTcp } from './tcp.ts';
import { UdpExchange, type Upstream } from './udp.ts';
import {
  type Answer,
  decodeAnswer,
  encodeQuery,
  type Interpretation,
  interpret,
  MAX_TTL_SECONDS,
  none,
  normalise,
  type RecordOf,
  type RecordType,
} from './wire.ts';

export interface ResolverOptions {
  /** Recursive resolvers; the system's by default. */
  readonly upstreams?: readonly Upstream[];
  /** For one try; longer than a resolver's own patience would only mix up SERVFAIL and silence. */
  readonly tryTimeoutMs?: number;
  /** Tries a question, each at the next upstream. */
  readonly tries?: number;
  /** Questions in flight at one upstream; more wait in line. */
  readonly maxInFlight?: number;
  readonly cacheEntries?: number;
}

export interface ResolverStats {
  readonly questions: number;
  readonly cacheHits: number;
  readonly sent: number;
  readonly timeouts: number;
  readonly overTcp: number;
}

const DEFAULTS = { tryTimeoutMs: 2_000, tries: 3, maxInFlight: 1_000, cacheEntries: 200_000 } as const;

/** CNAME chains that a server leaves unfinished are taken up again this often. */
const MAX_CONTINUATIONS = 4;

export class Resolver implements AsyncDisposable {
  readonly #upstreams: readonly Upstream[];
  readonly #options: Required<Omit<ResolverOptions, 'upstreams'>>;
  readonly #udp = new UdpExchange();
  readonly #cache: LRUCache<string, Lookup<unknown>>;
  readonly #asking = new Map<string, Promise<Lookup<unknown>>>();
  readonly #line: (() => void)[] = [];
  #inFlight = 0;
  readonly #stats = { questions: 0, cacheHits: 0, sent: 0, timeouts: 0, overTcp: 0 };

  constructor(options: ResolverOptions = {}) {
    this.#upstreams = options.upstreams?.length ? options.upstreams : systemUpstreams();
    const { upstreams: _, ...given } = options;
    this.#options = { ...DEFAULTS, ...given };
    this.#cache = new LRUCache({ max: this.#options.cacheEntries, ttlResolution: 1_000, ttl: MAX_TTL_SECONDS * 1_000 });
  }

  stats(): ResolverStats {
    return { ...this.#stats };
  }

  /** Asks, from the cache when the answer still lives. Never rejects: every failure is a status. */
  query<Type extends RecordType>(name: string, type: Type): Promise<Lookup<RecordOf[Type]>> {
    const question = normalise(name);
    const key = `${type} ${question}`;
    this.#stats.questions += 1;
    const kept = this.#cache.get(key);
    if (kept) {
      this.#stats.cacheHits += 1;
      return Promise.resolve(kept as Lookup<RecordOf[Type]>);
    }
    const running = this.#asking.get(key);
    if (running) return running as Promise<Lookup<RecordOf[Type]>>;
    const asked = this.#ask(question, type)
      .then(({ lookup, ttlSeconds }) => {
        if (ttlSeconds > 0) this.#cache.set(key, lookup, { ttl: Math.min(ttlSeconds, MAX_TTL_SECONDS) * 1_000 });
        return lookup;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  }

  async #ask<Type extends RecordType>(name: string, type: Type): Promise<Interpretation<RecordOf[Type]>> {
    if (!isAskable(name)) return { lookup: none('malformed', [], 'not a name that DNS can carry'), ttlSeconds: 0 };
    let result = await this.#askWithRetries(name, type);
    const aliases = [...result.lookup.aliases];
    for (let i = 0; result.unfinished !== undefined && i < MAX_CONTINUATIONS; i += 1) {
      const ttlSeconds = result.ttlSeconds;
      result = await this.#askWithRetries(result.unfinished, type);
      for (const alias of result.lookup.aliases) {
        if (alias === name || aliases.includes(alias)) {
          return { lookup: none('malformed', aliases, 'the CNAME chain is a loop'), ttlSeconds: 0 };
        }
        aliases.push(alias);
      }
      const lookup = { ...result.lookup, aliases: [...aliases] };
      result = { ...result, lookup, ttlSeconds: Math.min(ttlSeconds, result.ttlSeconds) };
    }
    return result;
  }

  async #askWithRetries<Type extends RecordType>(name: string, type: Type): Promise<Interpretation<RecordOf[Type]>> {
    const first = randomInt(this.#upstreams.length);
    let failure: { status: LookupStatus; detail: string } = { status: 'timeout', detail: 'no answer in time' };
    for (let i = 0; i < this.#options.tries; i += 1) {
      const upstream = this.#upstreams[(first + i) % this.#upstreams.length] as Upstream;
      const answer = await this.#try(upstream, name, type);
      if (typeof answer !== 'string') {
        const result = interpret(answer, name, type);
        const { status } = result.lookup;
        if (status === 'found' || status === 'empty' || status === 'nxdomain') return result;
        failure = { status, detail: result.lookup.detail ?? answer.rcode };
        // A broken chain is what the zone says; asking elsewhere would only say it again.
        if (status === 'malformed' && answer.rcode === 'NOERROR') return result;
      } else if (failure.status === 'timeout') {
        // What a server said outweighs another one's silence.
        failure = answer === 'malformed' ? { status: 'malformed', detail: 'the answer cannot be read' } : failure;
      }
    }
    return { lookup: none(failure.status, [], failure.detail), ttlSeconds: 0 };
  }

  async #try(upstream: Upstream, name: string, type: RecordType): Promise<Answer | 'timeout' | 'malformed'> {
    await this.#takeSlot();
    try {
      this.#stats.sent += 1;
      const { tryTimeoutMs: timeoutMs } = this.#options;
      let isGarbled = false;
      let answer: Answer | undefined;
      const message = await this.#udp.exchange({
        upstream,
        encode: (id) => encodeQuery(id, name, type),
        // From the right server with the right id, but unreadable: wait on, a good one may still come.
        accept: (bytes) => {
          answer = decodeAnswer(bytes, name, type);
          isGarbled ||= answer === undefined;
          return answer !== undefined;
        },
        timeoutMs,
      });
      if (typeof message === 'string' || !answer) {
        this.#stats.timeouts += 1;
        return isGarbled ? 'malformed' : 'timeout';
      }
      if (!answer.isTruncated) return answer;
      this.#stats.overTcp += 1;
      const query = encodeQuery(randomInt(65_536), name, type);
      const whole = await exchangeOverTcp({ upstream, query, timeoutMs });
      if (typeof whole === 'string') return 'timeout';
      const isOurs = whole.length >= 12 && whole.readUInt16BE(0) === query.readUInt16BE(0);
      return (isOurs ? decodeAnswer(whole, name, type) : undefined) ?? 'malformed';
    } finally {
      this.#giveSlot();
    }
  }

  async #takeSlot(): Promise<void> {
    if (this.#inFlight < this.#options.maxInFlight * this.#upstreams.length) this.#inFlight += 1;
    else await new Promise<void>((resolve) => this.#line.push(resolve));
  }

  /** The slot goes to the next in line, so the count stays as it is. */
  #giveSlot(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#inFlight -= 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#udp[Symbol.asyncDispose]();
  }
}

/** RFC 1035 section 2.3.4: labels of 1 to 63 bytes, 253 characters in all. */
function isAskable(name: string): boolean {
  return (
    name.length > 0 && name.length <= 253 && name.split('.').every((label) => label.length > 0 && label.length <= 63)
  );
}

function systemUpstreams(): Upstream[] {
  const upstreams = getServers().map((server) => {
    const match = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(server);
    return match ? { address: match[1] ?? match[2] ?? server, port: Number(match[3]) } : { address: server, port: 53 };
  });
  return upstreams.length > 0 ? upstreams : [{ address: '127.0.0.1', port: 53 }];
}
