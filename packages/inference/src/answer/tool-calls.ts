// Detects tool calls in generated text and separates them from the text, incrementally.
import type { Tool } from '../request/request.ts';

/** An increment of an answer that may contain tool calls. `at` is the index of the call. */
export type ToolDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly at: number; readonly name: string }
  /** A piece of the JSON text. */
  | { readonly kind: 'arguments'; readonly at: number; readonly text: string };

/** The tags that models of the Hermes and Qwen families are trained to write around a tool call. */
const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
/** Maximum length of text that is held back because it may be the start of a call. */
const MAX_HELD = 256 * 1024;
/** A call up to its arguments, if the arguments come last. */
const HEADER = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)/;

/** The first key of an object, and the keys that a call can start with. */
const FIRST_KEY = /^\{\s*"([^"\\]*)"\s*:/;
const KEYS = new Set(['name', 'arguments', 'parameters', 'id', 'type', 'function']);

/** Finds the end of a JSON value that arrives in pieces. */
class ValueScanner {
  depth = 0;
  #isText = false;
  #isEscaped = false;

  /**
   * The number of characters up to the end of the value that began at depth 0; -1 if the value does not end in `text`.
   */
  endIn(text: string): number {
    for (let i = 0; i < text.length; i += 1) {
      const letter = text[i];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isText) {
        if (letter === '\\') this.#isEscaped = true;
        else if (letter === '"') this.#isText = false;
      } else if (letter === '"') this.#isText = true;
      else if (letter === '{' || letter === '[') this.depth += 1;
      else if (letter === '}' || letter === ']') {
        this.depth -= 1;
        if (this.depth === 0) return i + 1;
      }
    }
    return -1;
  }
}

type State =
  /** Only white space so far. An answer that is a JSON object may be a call without tags. */
  | { readonly name: 'undecided' }
  | { readonly name: 'text' }
  /** Inside a call, before its arguments. */
  | { readonly name: 'header'; readonly isMarked: boolean; readonly scanner: ValueScanner; scanned: number }
  | { readonly name: 'arguments'; readonly scanner: ValueScanner }
  /** After the arguments, inside the object of the call. */
  | { readonly name: 'rest'; readonly scanner: ValueScanner }
  | { readonly name: 'after' };

const header = (isMarked: boolean): State => ({ name: 'header', isMarked, scanner: new ValueScanner(), scanned: 0 });

/**
 * Reads an answer incrementally. Text that cannot be part of a call, and the arguments of a call, are emitted
 * immediately.
 */
export class ToolCallReader {
  readonly #names: ReadonlySet<string>;
  readonly #max: number;
  #state: State = { name: 'undecided' };
  #held = '';
  #calls = 0;
  #deltas: ToolDelta[] = [];

  /** Calls after the first `max` are dropped. */
  constructor(tools: readonly Pick<Tool, 'name'>[], { max = Number.POSITIVE_INFINITY } = {}) {
    this.#names = new Set(tools.map(({ name }) => name));
    this.#max = max;
  }

  push(text: string): readonly ToolDelta[] {
    this.#held += text;
    while (this.#step());
    return this.#take();
  }

  /** Ends the answer: text that is still held back is emitted as text. */
  end(): readonly ToolDelta[] {
    if (this.#state.name === 'header') {
      this.#rejectCall(this.#state.isMarked);
      while (this.#step());
    }
    if (['undecided', 'text', 'after'].includes(this.#state.name)) this.#emitText(this.#held);
    this.#held = '';
    return this.#take();
  }

  /** Returns whether the held text can be processed further. */
  #step(): boolean {
    const state = this.#state;
    switch (state.name) {
      case 'undecided': {
        const begun = this.#held.trimStart();
        if (begun === '') return false;
        return this.#enter(begun.startsWith('{') ? header(false) : { name: 'text' });
      }
      case 'text':
        return this.#text();
      case 'header':
        return this.#header(state);
      case 'arguments': {
        const end = state.scanner.endIn(this.#held);
        this.#emitArguments(this.#cut(end < 0 ? this.#held.length : end));
        if (end < 0) return false;
        const rest = new ValueScanner();
        rest.depth = 1;
        return this.#enter({ name: 'rest', scanner: rest });
      }
      case 'rest': {
        const end = state.scanner.endIn(this.#held);
        this.#cut(end < 0 ? this.#held.length : end);
        return end >= 0 && this.#enter({ name: 'after' });
      }
      case 'after':
        return this.#after();
      default:
        return state satisfies never;
    }
  }

  /** Text up to an opening tag, which may arrive in pieces. */
  #text(): boolean {
    const at = this.#held.indexOf(OPEN);
    if (at >= 0) {
      this.#emitText(this.#cut(at));
      this.#cut(OPEN.length);
      return this.#enter(header(true));
    }
    this.#emitText(this.#cut(this.#held.length - endsWithPart(this.#held, OPEN)));
    return false;
  }

  #header(state: State & { readonly name: 'header' }): boolean {
    const found = HEADER.exec(this.#held);
    const name = found && parsed(found[1] ?? '');
    if (found && typeof name === 'string' && this.#names.has(name)) {
      this.#cut(found[0].length);
      this.#begin(name);
      return this.#enter({ name: 'arguments', scanner: new ValueScanner() });
    }
    const begun = this.#held.trimStart();
    if (begun === '') return false;
    const key = FIRST_KEY.exec(begun)?.[1];
    const isText = !begun.startsWith('{') || (key !== undefined && !KEYS.has(key)) || this.#held.length > MAX_HELD;
    if (isText) return this.#rejectCall(state.isMarked);
    const end = state.scanner.endIn(this.#held.slice(state.scanned));
    if (end < 0) {
      state.scanned = this.#held.length;
      return false;
    }
    // The object is complete: a call with its keys in another order, or not a call.
    const object = this.#cut(state.scanned + end);
    const call = this.#callOf(object);
    if (!call) {
      this.#emitText((state.isMarked ? OPEN : '') + object);
      return this.#enter({ name: 'text' });
    }
    this.#begin(call.name);
    this.#emitArguments(call.arguments);
    return this.#enter({ name: 'after' });
  }

  /** Between calls, or after the last one. */
  #after(): boolean {
    const next = this.#held.trimStart();
    if (next === '' || (next.length < CLOSE.length && (CLOSE.startsWith(next) || OPEN.startsWith(next)))) return false;
    this.#held = next;
    if (next.startsWith(CLOSE)) {
      this.#cut(CLOSE.length);
      return true;
    }
    return this.#enter(next.startsWith('{') ? header(false) : { name: 'text' });
  }

  /** Treats the held text, and the tag before it, as text, in which another call may start. */
  #rejectCall(isMarked: boolean): true {
    if (isMarked) this.#emitText(OPEN);
    return this.#enter({ name: 'text' });
  }

  #callOf(text: string): { readonly name: string; readonly arguments: string } | undefined {
    const value = parsed(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { name, arguments: given, parameters } = value as Record<string, unknown>;
    if (typeof name !== 'string' || !this.#names.has(name)) return undefined;
    const input = given ?? parameters ?? {};
    // Some models write the arguments as a string that contains JSON.
    if (typeof input === 'string') return parsed(input) === undefined ? undefined : { name, arguments: input };
    return { name, arguments: JSON.stringify(input) };
  }

  #begin(name: string): void {
    this.#calls += 1;
    if (this.#calls <= this.#max) this.#deltas.push({ kind: 'call', at: this.#calls - 1, name });
  }

  #emitArguments(text: string): void {
    if (this.#calls <= this.#max && text !== '') this.#deltas.push({ kind: 'arguments', at: this.#calls - 1, text });
  }

  #emitText(text: string): void {
    if (text !== '') this.#deltas.push({ kind: 'text', text });
  }

  #enter(state: State): true {
    this.#state = state;
    return true;
  }

  #cut(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }

  #take(): readonly ToolDelta[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }
}

/** Length of the longest suffix of `text` that is a prefix of `mark`. */
function endsWithPart(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
