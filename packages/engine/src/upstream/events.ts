// Parses server-sent events from byte chunks, within limits.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
import { EngineError } from '../engine.ts';

export interface StreamEvent {
  /** Empty if the server sends none. */
  readonly type: string;
  readonly data: string;
}

interface EventLimits {
  readonly eventChars: number;
  readonly bytes: number;
  readonly events: number;
}

const LIMITS: EventLimits = {
  // An event with twenty log-probabilities has 3,000 characters; one event may contain all arguments of a call.
  eventChars: 2 * 1024 * 1024,
  // A hundred thousand tokens with twenty log-probabilities each.
  bytes: 512 * 1024 * 1024,
  events: 1_000_000,
};
const LINE_END = /\r\n|\r|\n/g;

/** Accepts chunks split anywhere, also within a character. Throws EngineError `upstream-failed` above the limits. */
export class EventReader {
  readonly #limits: EventLimits;
  readonly #decoder = new TextDecoder();
  #line = '';
  #data: string | undefined;
  #type = '';
  /** The last line ended with a carriage return: a following line feed belongs to it. */
  #isAfterReturn = false;
  #bytes = 0;
  #events = 0;

  constructor(limits: EventLimits = LIMITS) {
    this.#limits = limits;
  }

  /** Events that are now complete; comments are skipped. */
  push(bytes: Uint8Array): StreamEvent[] {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limits.bytes) throw limitExceeded(`more than ${this.#limits.bytes} bytes`);
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The stream ended: a missing final empty line is tolerated. */
  end(): StreamEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(text: string): StreamEvent[] {
    if (text === '') return [];
    const events: StreamEvent[] = [];
    let from = this.#isAfterReturn && text.startsWith('\n') ? 1 : 0;
    this.#isAfterReturn = text.endsWith('\r');
    for (const end of text.matchAll(LINE_END)) {
      if (end.index < from) continue;
      const event = this.#take(this.#line + text.slice(from, end.index));
      if (event) events.push(event);
      this.#line = '';
      from = end.index + end[0].length;
    }
    this.#line += text.slice(from);
    this.#check(this.#line.length);
    return events;
  }

  #take(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch();
    this.#check(line.length);
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1);
    if (field === 'event') this.#type = value;
    // Older llama-server versions send errors in a field of this name.
    if (field === 'error') this.#type = field;
    if (field === 'data' || field === 'error')
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const event = this.#data === undefined ? undefined : { type: this.#type, data: this.#data };
    this.#data = undefined;
    this.#type = '';
    if (event) this.#events += 1;
    if (this.#events > this.#limits.events) throw limitExceeded(`more than ${this.#limits.events} events`);
    return event;
  }

  #check(lineLength: number): void {
    const { eventChars } = this.#limits;
    if (lineLength + (this.#data?.length ?? 0) > eventChars)
      throw limitExceeded(`an event of more than ${eventChars} characters`);
  }
}

function limitExceeded(what: string): EngineError {
  return new EngineError('upstream-failed', `the upstream sent ${what}`);
}
