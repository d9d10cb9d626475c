// Reads server-sent events from byte chunks, within limits.
import { createParser, type EventSourceParser } from 'eventsource-parser';
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

/** Accepts chunks split anywhere, also within a character. Throws EngineError `upstream-failed` above the limits. */
export class EventReader {
  readonly #limits: EventLimits;
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  /** An incomplete line: the parser discards one of an unknown field, which `error` is to it. */
  #line = '';
  #complete: StreamEvent[] = [];
  #bytes = 0;
  #events = 0;

  constructor(limits: EventLimits = LIMITS) {
    this.#limits = limits;
    this.#parser = createParser({
      maxBufferSize: limits.eventChars,
      onEvent: ({ event: type = '', data }) => this.#add({ type, data }),
      onError: ({ type, field, value = '' }) => {
        if (type === 'max-buffer-size-exceeded') throw eventTooLong(limits);
        // Older llama-server versions send errors in a field of this name.
        if (field === 'error') this.#add({ type: field, data: value });
      },
    });
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
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    if (end > 0) {
      this.#parser.feed(this.#line + text.slice(0, end));
      this.#line = '';
    }
    this.#line += text.slice(end);
    if (this.#line.length > this.#limits.eventChars) throw eventTooLong(this.#limits);
    const complete = this.#complete;
    this.#complete = [];
    return complete;
  }

  #add(event: StreamEvent): void {
    this.#events += 1;
    if (this.#events > this.#limits.events) throw limitExceeded(`more than ${this.#limits.events} events`);
    this.#complete.push(event);
  }
}

const eventTooLong = ({ eventChars }: EventLimits) => limitExceeded(`an event of more than ${eventChars} characters`);

function limitExceeded(what: string): EngineError {
  return new EngineError('upstream-failed', `the upstream sent ${what}`);
}
