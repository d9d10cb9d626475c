// Calls of tools in what a model writes: found as they come, kept from the text, and told apart from it.
import type { Tool } from '../request/request.ts';

/** Part of an answer that may call tools. `at` numbers the calls. */
export type ToolDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly at: number; readonly name: string }
  /** JSON, in pieces. */
  | { readonly kind: 'arguments'; readonly at: number; readonly text: string };

/** How models that were trained to call tools write it (Hermes, Qwen and their kin). */
const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
/** Longest text that is held back because it may be the beginning of a call. */
const MAX_HELD = 256 * 1024;
/** A call up to its arguments, where these come last. */
const HEADER = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"(?:arguments|parameters)"\s*:\s*(?=\{)/;

/** The first name in an object, and those that a call may begin with. */
const FIRST_KEY = /^\{\s*"([^"\\]*)"\s*:/;
const KEYS = new Set(['name', 'arguments', 'parameters', 'id', 'type', 'function']);

/** Where a JSON value stands that comes in pieces. */
class ValueScanner {
  depth = 0;
  #isText = false;
  #isEscaped = false;

  /** Characters up to the end of the value that began at depth 0; -1 while it goes on. */
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
  /** Nothing but white space so far: a whole answer that is an object may be a call without any mark. */
  | { readonly name: 'undecided' }
  | { readonly name: 'text' }
  /** Within a call, before its arguments. */
  | { readonly name: 'header'; readonly isMarked: boolean; readonly scanner: ValueScanner; scanned: number }
  | { readonly name: 'arguments'; readonly scanner: ValueScanner }
  /** After the arguments, within the object of the call. */
  | { readonly name: 'rest'; readonly scanner: ValueScanner }
  | { readonly name: 'after' };

const header = (isMarked: boolean): State => ({ name: 'header', isMarked, scanner: new ValueScanner(), scanned: 0 });

/** Reads an answer as it comes. Text that cannot be part of a call passes at once, and so do the arguments of one. */
export class ToolCallReader {
  readonly #names: ReadonlySet<string>;
  readonly #max: number;
  #state: State = { name: 'undecided' };
  #held = '';
  #calls = 0;
  #told: ToolDelta[] = [];

  /** Calls beyond `most` are left out. */
  constructor(tools: readonly Pick<Tool, 'name'>[], { max = Number.POSITIVE_INFINITY } = {}) {
    this.#names = new Set(tools.map(({ name }) => name));
    this.#max = max;
  }

  push(text: string): readonly ToolDelta[] {
    this.#held += text;
    while (this.#step());
    return this.#take();
  }

  /** The answer is over: what was held back is text after all. */
  end(): readonly ToolDelta[] {
    if (this.#state.name === 'header') {
      this.#noCall(this.#state.isMarked);
      while (this.#step());
    }
    if (['undecided', 'text', 'after'].includes(this.#state.name)) this.#tell(this.#held);
    this.#held = '';
    return this.#take();
  }

  /** Whether there is more to do with what is held. */
  #step(): boolean {
    const state = this.#state;
    switch (state.name) {
      case 'undecided': {
        const begun = this.#held.trimStart();
        if (begun === '') return false;
        return this.#turn(begun.startsWith('{') ? header(false) : { name: 'text' });
      }
      case 'text':
        return this.#text();
      case 'header':
        return this.#header(state);
      case 'arguments': {
        const end = state.scanner.endIn(this.#held);
        this.#tellArguments(this.#cut(end < 0 ? this.#held.length : end));
        if (end < 0) return false;
        const rest = new ValueScanner();
        rest.depth = 1;
        return this.#turn({ name: 'rest', scanner: rest });
      }
      case 'rest': {
        const end = state.scanner.endIn(this.#held);
        this.#cut(end < 0 ? this.#held.length : end);
        return end >= 0 && this.#turn({ name: 'after' });
      }
      case 'after':
        return this.#after();
      default:
        return state satisfies never;
    }
  }

  /** Text up to a mark, which may come in pieces. */
  #text(): boolean {
    const at = this.#held.indexOf(OPEN);
    if (at >= 0) {
      this.#tell(this.#cut(at));
      this.#cut(OPEN.length);
      return this.#turn(header(true));
    }
    this.#tell(this.#cut(this.#held.length - endsWithPart(this.#held, OPEN)));
    return false;
  }

  #header(state: State & { readonly name: 'header' }): boolean {
    const found = HEADER.exec(this.#held);
    const name = found && parsed(found[1] ?? '');
    if (found && typeof name === 'string' && this.#names.has(name)) {
      this.#cut(found[0].length);
      this.#begin(name);
      return this.#turn({ name: 'arguments', scanner: new ValueScanner() });
    }
    const begun = this.#held.trimStart();
    if (begun === '') return false;
    const key = FIRST_KEY.exec(begun)?.[1];
    const isNone = !begun.startsWith('{') || (key !== undefined && !KEYS.has(key)) || this.#held.length > MAX_HELD;
    if (isNone) return this.#noCall(state.isMarked);
    const end = state.scanner.endIn(this.#held.slice(state.scanned));
    if (end < 0) {
      state.scanned = this.#held.length;
      return false;
    }
    // The object is whole, and in another order; or it is no call.
    const object = this.#cut(state.scanned + end);
    const call = this.#callOf(object);
    if (!call) {
      this.#tell((state.isMarked ? OPEN : '') + object);
      return this.#turn({ name: 'text' });
    }
    this.#begin(call.name);
    this.#tellArguments(call.arguments);
    return this.#turn({ name: 'after' });
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
    return this.#turn(next.startsWith('{') ? header(false) : { name: 'text' });
  }

  /** What is held is text, in which another call may begin; the mark before it is text too. */
  #noCall(isMarked: boolean): true {
    if (isMarked) this.#tell(OPEN);
    return this.#turn({ name: 'text' });
  }

  #callOf(text: string): { readonly name: string; readonly arguments: string } | undefined {
    const value = parsed(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { name, arguments: given, parameters } = value as Record<string, unknown>;
    if (typeof name !== 'string' || !this.#names.has(name)) return undefined;
    const input = given ?? parameters ?? {};
    // Some write the arguments as a text that holds JSON.
    if (typeof input === 'string') return parsed(input) === undefined ? undefined : { name, arguments: input };
    return { name, arguments: JSON.stringify(input) };
  }

  #begin(name: string): void {
    this.#calls += 1;
    if (this.#calls <= this.#max) this.#told.push({ kind: 'call', at: this.#calls - 1, name });
  }

  #tellArguments(text: string): void {
    if (this.#calls <= this.#max && text !== '') this.#told.push({ kind: 'arguments', at: this.#calls - 1, text });
  }

  #tell(text: string): void {
    if (text !== '') this.#told.push({ kind: 'text', text });
  }

  #turn(state: State): true {
    this.#state = state;
    return true;
  }

  #cut(length: number): string {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }

  #take(): readonly ToolDelta[] {
    const told = this.#told;
    this.#told = [];
    return told;
  }
}

/** Length of the longest end of a text that is a beginning of the mark. */
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
