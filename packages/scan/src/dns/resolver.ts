// The resolver of a scan, on top of recursive resolvers: shared queries, a cache that respects TTLs, CNAME chains.
import { getServers } from 'node:dns';
import type { Lookup } from '@strata/detect';
import { AnswerCache } from './answer-cache.ts';
import { type Answer, failed, MAX_ALIASES, type Reading } from './message/answer.ts';
import { isAskable } from './message/message.ts';
import type { RecordOf, RecordType } from './message/records.ts';
import { SharedWork } from './shared-work.ts';
import { StopSwitch, type Upstream } from './upstream/exchange.ts';
import { type SourceQuery, type SourceStats, StubSource } from './upstream/stub-source.ts';

export interface ResolverOptions {
  /** Recursive resolvers, used round-robin; those of the system if omitted or empty. */
  readonly upstreams?: readonly Upstream[];
  /** For one try. Must exceed the upstream's own time-out, or its SERVFAIL would be taken for no response. */
  readonly tryTimeoutMs?: number;
  /** Maximum tries per question. An upstream that answered, even with a failure, is not queried again. */
  readonly tries?: number;
  /** For all tries of one question, without the time in the queue. */
  readonly totalTimeoutMs?: number;
  /** Questions in flight per upstream; further ones wait. */
  readonly maxInFlight?: number;
  /** Longer TTLs of cached answers are reduced to this: an hour by default. */
  readonly maxTtlMs?: number;
}

export interface ResolverStats extends SourceStats {
  readonly questions: number;
  readonly cacheHits: number;
  /** Questions that joined an identical one in flight. */
  readonly shared: number;
}

export interface QueryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Upstreams must not validate signatures (CD, RFC 4035 §3.2.2). */
  readonly isUnchecked?: boolean;
}

/** Covers one or two lost packets. */
const DEFAULT_TRIES = 4;
/** Signed since 2011: a validating upstream sets AD on answers for it. */
const SIGNED_ZONE = 'com';
/** Minimum time for which the validation behaviour of an upstream is cached. */
const UPSTREAM_TTL_SECONDS = 60;

export class Resolver implements AsyncDisposable {
  readonly #source: StubSource;
  readonly #cache: AnswerCache;
  readonly #asking = new Map<string, SharedWork<Answer<unknown>>>();
  readonly #stats = { questions: 0, cacheHits: 0, shared: 0 };
  #isDisposed = false;

  constructor(options: ResolverOptions = {}) {
    this.#source = sourceOf(options);
    this.#cache = new AnswerCache(options.maxTtlMs ?? 3_600_000);
  }

  stats(): ResolverStats {
    return { ...this.#stats, ...this.#source.stats() };
  }

  /** Queries, or answers from the cache. Failures are statuses; rejects only if `signal` aborts. */
  query<Type extends RecordType>(
    name: string,
    type: Type,
    options: QueryOptions = {},
  ): Promise<Lookup<RecordOf[Type]>> {
    return this.ask(name, type, options).then(({ lookup }) => lookup);
  }

  /** As `query`, with the upstream's validation result. */
  ask<Type extends RecordType>(name: string, type: Type, options: QueryOptions = {}): Promise<Answer<RecordOf[Type]>> {
    const lower = name.toLowerCase();
    const question = lower.endsWith('.') ? lower.slice(0, -1) : lower;
    return this.#shared({ question, type, isUnchecked: options.isUnchecked === true }, options.signal);
  }

  /**
   * Whether all upstreams that answer validate signatures, tested with a zone that is known to be signed. The answers are cached: the
   * test costs one query per upstream and hour.
   */
  async isValidating({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<boolean> {
    const asking = { question: SIGNED_ZONE, type: 'NS', isUnchecked: false } as const;
    const answers = await Promise.all(this.#source.upstreams.map((only) => this.#shared({ ...asking, only }, signal)));
    const answered = answers.filter(({ lookup }) => lookup.status === 'found');
    return answered.length > 0 && answered.every(({ isAuthentic }) => isAuthentic);
  }

  #shared<Type extends RecordType>(
    asking: SourceQuery & { readonly type: Type },
    signal: AbortSignal | undefined,
  ): Promise<Answer<RecordOf[Type]>> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.#stats.questions += 1;
    const key = keyOf(asking);
    // The casts are safe because the key includes the record type.
    const kept = this.#cache.get(key);
    if (kept !== undefined) {
      this.#stats.cacheHits += 1;
      return Promise.resolve(kept as Answer<RecordOf[Type]>);
    }
    let work = this.#asking.get(key);
    if (work === undefined) work = this.#start(key, asking);
    else this.#stats.shared += 1;
    return work.join(signal) as Promise<Answer<RecordOf[Type]>>;
  }

  #start(key: string, asking: SourceQuery): SharedWork<Answer<unknown>> {
    const stop = new StopSwitch();
    const forget = () => {
      if (this.#asking.get(key) === work) this.#asking.delete(key);
    };
    const result = this.#resolve(asking, stop).then(
      ({ lookup, isAuthentic, ttlSeconds }) => {
        forget();
        const answer = { lookup, isAuthentic };
        // Caches failures too: otherwise every probe would wait for an upstream that does not respond.
        this.#cache.keep(key, answer, asking.only ? Math.max(ttlSeconds, UPSTREAM_TTL_SECONDS) : ttlSeconds);
        return answer;
      },
      (cause) => {
        forget();
        throw new Error(`resolve ${key}`, { cause });
      },
    );
    const work = new SharedWork<Answer<unknown>>(result, () => {
      // Later callers must not join cancelled work.
      this.#asking.delete(key);
      stop.stop();
    });
    this.#asking.set(key, work);
    return work;
  }

  /** Queries, and continues CNAME chains that a server left unfinished. */
  async #resolve(asking: SourceQuery, stop: StopSwitch): Promise<Reading<unknown>> {
    const name = asking.question;
    if (this.#isDisposed) return failed('skipped', 'the resolver is disposed');
    if (!isAskable(name)) return failed('skipped', 'not a valid DNS name');
    let reading: Reading<unknown> = await this.#source.ask(asking, stop);
    while (reading.unfinished !== null) {
      const { lookup, isAuthentic, ttlSeconds, unfinished } = reading;
      if (!isAskable(unfinished)) return failed('malformed', 'the alias is not a valid DNS name', lookup.aliases);
      const next = await this.#source.ask({ ...asking, question: unfinished }, stop);
      const aliases = [...lookup.aliases, ...next.lookup.aliases];
      if (new Set([name, ...aliases]).size <= aliases.length) {
        return failed('malformed', 'the CNAME chain is a loop', lookup.aliases);
      }
      if (aliases.length > MAX_ALIASES) {
        return failed('malformed', `the CNAME chain has more than ${MAX_ALIASES} links`, lookup.aliases);
      }
      reading = {
        ...next,
        lookup: { ...next.lookup, aliases },
        isAuthentic: isAuthentic && next.isAuthentic,
        ttlSeconds: Math.min(ttlSeconds, next.ttlSeconds),
      };
    }
    return reading;
  }

  /** Questions in flight and in the queue end as `skipped`. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    for (const work of [...this.#asking.values()]) work.stop();
    await this.#source[Symbol.asyncDispose]();
  }
}

function sourceOf(options: ResolverOptions): StubSource {
  const { upstreams = [], tryTimeoutMs = 2_000, totalTimeoutMs = 6_000, maxInFlight = 1_000 } = options;
  const servers = upstreams.length > 0 ? upstreams : systemUpstreams();
  const tries = options.tries ?? Math.max(DEFAULT_TRIES, servers.length);
  return new StubSource(servers, { tries, tryTimeoutMs, totalTimeoutMs, maxInFlight });
}

function keyOf({ question, type, isUnchecked, only }: SourceQuery): string {
  const key = `${type} ${question}`;
  if (isUnchecked) return `${key} unchecked`;
  return only === undefined ? key : `${key} @${only}`;
}

function systemUpstreams(): Upstream[] {
  const upstreams = getServers().map((server) => {
    // `1.2.3.4`, `1.2.3.4:53`, `::1` or `[::1]:53`
    const match = /^(?:\[(.+)\]|([^:]+)):(\d+)$/.exec(server);
    return { address: match?.[1] ?? match?.[2] ?? server, port: Number(match?.[3] ?? 53) };
  });
  return upstreams.length > 0 ? upstreams : [{ address: '127.0.0.1', port: 53 }];
}
