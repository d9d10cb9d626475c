// The queries of one socket that wait for an answer, by id.
import { getRandomValues } from 'node:crypto';
import { answersQuery, stampId } from '../message/message.ts';
import type { Exchange, StopSwitch } from './exchange.ts';
import type { TimerWheel, WheelEntry } from './timer-wheel.ts';

/** Half the id space, so that a free random id is found quickly. */
const MAX_WAITING = 32_768;

interface Asked {
  readonly id: number;
  readonly query: Buffer;
  readonly stop: StopSwitch;
}

/** A question in flight. A class, so that a question costs one object and no closures. */
class Waiting implements WheelEntry {
  readonly asked: Asked;
  strays = 0;
  slot = 0;
  rounds = 0;
  readonly #forget: (waiting: Waiting) => void;
  readonly #resolve: (exchange: Exchange) => void;

  constructor(asked: Asked, forget: (waiting: Waiting) => void, resolve: (exchange: Exchange) => void) {
    this.asked = asked;
    this.#forget = forget;
    this.#resolve = resolve;
    asked.stop.work = this;
  }

  expire(): void {
    this.settle({ kind: 'timeout', strays: this.strays });
  }

  stop(): void {
    this.settle({ kind: 'stopped' });
  }

  settle(exchange: Exchange): void {
    const { stop } = this.asked;
    if (stop.work === this) stop.work = undefined;
    this.#forget(this);
    this.#resolve(exchange);
  }
}

/** Ids are random (RFC 5452 §4), and an answer must repeat the question. */
export class QueriesInFlight {
  readonly #wheel: TimerWheel;
  readonly #send: (query: Buffer) => void;
  readonly #waiting = new Map<number, Waiting>();
  readonly #forget = (waiting: Waiting) => {
    this.#waiting.delete(waiting.asked.id);
    this.#wheel.remove(waiting);
  };

  constructor(wheel: TimerWheel, send: (query: Buffer) => void) {
    this.#wheel = wheel;
    this.#send = send;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Sends the query with a new id. Always settles. */
  ask(query: Buffer, timeoutMs: number, stop: StopSwitch): Promise<Exchange> {
    if (this.#waiting.size >= MAX_WAITING) return Promise.resolve({ kind: 'unreachable', code: 'no free query id' });
    let id = random16();
    while (this.#waiting.has(id)) id = (id + 1) & 0xffff;
    stampId(query, id);
    return new Promise((resolve) => {
      const waiting = new Waiting({ id, query, stop }, this.#forget, resolve);
      this.#waiting.set(id, waiting);
      this.#wheel.add(waiting, timeoutMs);
      this.#send(query);
    });
  }

  receive(bytes: Buffer): void {
    const waiting = bytes.length < 2 ? undefined : this.#waiting.get(((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0));
    if (waiting === undefined) return;
    if (answersQuery(bytes, waiting.asked.query)) waiting.settle({ kind: 'answer', bytes });
    else waiting.strays += 1;
  }

  settleAll(exchange: Exchange): void {
    for (const waiting of [...this.#waiting.values()]) waiting.settle(exchange);
  }
}

const drawn = new Uint16Array(1_024);
let nextDrawn = drawn.length;

/** Sixteen cryptographically random bits, drawn in batches: one system call for 1,024 numbers. */
function random16(): number {
  if (nextDrawn === drawn.length) {
    getRandomValues(drawn);
    nextDrawn = 0;
  }
  return drawn[nextDrawn++] ?? 0;
}
