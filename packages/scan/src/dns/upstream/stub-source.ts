// Queries recursive resolvers: selection, retries, and the combination of their failures.
import { failed, type Reading } from '../message/answer.ts';
import { encodeQuery, RCODE, rcodeOf } from '../message/message.ts';
import type { RecordType } from '../message/records.ts';
import type { StopSwitch, Upstream } from './exchange.ts';
import { TimerWheel } from './timer-wheel.ts';
import { conclude, type Failure, readExchange } from './tries.ts';
import { UpstreamClient } from './upstream-client.ts';

export interface StubSourceOptions {
  readonly tryTimeoutMs: number;
  readonly tries: number;
  readonly totalTimeoutMs: number;
  readonly maxInFlight: number;
}

/** One question, as it is shared and cached. */
export interface SourceQuery {
  /** Lower-case, without trailing dot; satisfies `isAskable`. */
  readonly question: string;
  readonly type: RecordType;
  /** Without validation (CD, RFC 4035 §3.2.2). */
  readonly isUnchecked: boolean;
  /** The label of the only upstream to query; all of them if omitted. */
  readonly only?: string;
}

export interface SourceStats {
  readonly sent: number;
  readonly timeouts: number;
  readonly overTcp: number;
  /** Packets with our id that do not answer our question, mostly forgeries. */
  readonly strays: number;
  /** Questions that ended in a failure after all tries. */
  readonly failures: number;
}

/** Every question ends within its total time-out; failures are readings. Nothing is cached. */
export class StubSource implements AsyncDisposable {
  /** Labels of the upstreams. */
  readonly upstreams: readonly string[];
  readonly #clients: readonly UpstreamClient[];
  readonly #wheel = new TimerWheel();
  readonly #options: StubSourceOptions;
  #failures = 0;
  #nextFirst = 0;

  constructor(upstreams: readonly Upstream[], options: StubSourceOptions) {
    this.#clients = upstreams.map((upstream) => new UpstreamClient(upstream, this.#wheel, options.maxInFlight));
    this.upstreams = this.#clients.map(({ label }) => label);
    this.#options = options;
  }

  stats(): SourceStats {
    const sum = { sent: 0, timeouts: 0, overTcp: 0, strays: 0, failures: this.#failures };
    for (const { stats } of this.#clients) {
      sum.sent += stats.sent;
      sum.timeouts += stats.timeouts;
      sum.overTcp += stats.overTcp;
      sum.strays += stats.strays;
    }
    return sum;
  }

  /** Tries upstreams until one gives a positive or negative answer. */
  async ask({ question, type, isUnchecked, only }: SourceQuery, stop: StopSwitch): Promise<Reading<unknown>> {
    const { tries, tryTimeoutMs, totalTimeoutMs } = this.#options;
    const query = encodeQuery(question, type, { isUnchecked });
    const candidates = only === undefined ? this.#roundRobin() : this.#clients.filter(({ label }) => label === only);
    const failures: Failure[] = [];
    let leftMs = totalTimeoutMs;
    for (let i = 0; i < tries && leftMs > 0; i++) {
      // An upstream that answered, even with SERVFAIL, would repeat its answer. After a time-out a packet may have been lost, and
      // an answer for other names may have been forged: these upstreams are tried again.
      const client = candidates.shift();
      if (client === undefined) break;
      const slot = client.slots.acquire();
      if (slot !== undefined) await slot;
      const startedAt = performance.now();
      const timeoutMs = Math.min(tryTimeoutMs, leftMs);
      let sent = query;
      let exchange = await client.ask(sent, timeoutMs, stop);
      if (exchange.kind === 'answer' && rcodeOf(exchange.bytes) === RCODE.formatError) {
        // RFC 6891 §7: a server without EDNS0 answers FORMERR; the query is repeated without it.
        sent = encodeQuery(question, type, { hasEdns: false });
        exchange = await client.ask(sent, timeoutMs, stop);
      }
      client.slots.release();
      if (exchange.kind === 'stopped') return failed('skipped', 'cancelled before the answer');
      const reading = readExchange(exchange, sent, { name: question, type });
      const { status } = reading.lookup;
      if (status === 'found' || status === 'empty' || status === 'nxdomain') return reading;
      failures.push({ label: client.label, reading });
      if (exchange.kind === 'timeout' || reading.isOtherName) candidates.push(client);
      leftMs -= performance.now() - startedAt;
    }
    this.#failures += 1;
    return conclude(failures);
  }

  /** Upstreams in round-robin order, unresponsive ones last. */
  #roundRobin(): UpstreamClient[] {
    if (this.#clients.length === 1) return [...this.#clients];
    const first = this.#nextFirst++ % this.#clients.length;
    const rotated = [...this.#clients.slice(first), ...this.#clients.slice(0, first)];
    return [
      ...rotated.filter((client) => !client.isUnresponsive),
      ...rotated.filter((client) => client.isUnresponsive),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client[Symbol.asyncDispose]()));
    this.#wheel[Symbol.dispose]();
  }
}
