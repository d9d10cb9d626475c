// Server-sent events from bytes as they come, within bounds.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
import { EngineError } from '../engine.ts';

export interface StreamEvent {
  /** Empty where the server names none. */
  readonly type: string;
  readonly data: string;
}

export interface EventLimits {
  readonly eventChars: number;
  readonly bytes: number;
  readonly events: number;
}

const LIMITS: EventLimits = {
  // One event with twenty log-probabilities takes 3,000 characters; all arguments of a call may come in one.
  eventChars: 2 * 1024 * 1024,
  // A hundred thousand tokens with twenty log-probabilities each.
  bytes: 512 * 1024 * 1024,
  events: 1_000_000,
};
const LINE_END = /\r\n|\r|\n/g;

/** Takes bytes cut anywhere, also within a character. Throws EngineError `upstream-failed` beyond its bounds. */
export class EventReader {
  readonly #limits: EventLimits;
  readonly #decoder = new TextDecoder();
  #line = '';
  #data: string | undefined;
  #type = '';
  /** The last line ended with a carriage return: a line feed after it belongs to it. */
  #isAfterReturn = false;
  #bytes = 0;
  #events = 0;

  constructor(limits: EventLimits = LIMITS) {
    this.#limits = limits;
  }

  /** Events that are complete now; comments are none. */
  push(bytes: Uint8Array): StreamEvent[] {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limits.bytes) throw beyond(`more than ${this.#limits.bytes} bytes`);
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The stream is over: servers that forget the last empty line are forgiven. */
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
    // Older llama-servers tell errors in a field of this name.
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
    if (this.#events > this.#limits.events) throw beyond(`more than ${this.#limits.events} events`);
    return event;
  }

  #check(lineLength: number): void {
    const { eventChars } = this.#limits;
    if (lineLength + (this.#data?.length ?? 0) > eventChars)
      throw beyond(`an event of more than ${eventChars} characters`);
  }
}

function beyond(what: string): EngineError {
  return new EngineError('upstream-failed', `the upstream sent ${what}`);
}
