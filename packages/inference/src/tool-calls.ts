// Calls of tools in what a model writes: found, kept from the text, and told apart from it.
import type { Tool } from './request.ts';

export interface FoundCall {
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** How models that were trained to call tools write it (Hermes, Qwen and their kin). */
const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';
/** Longest text that is held back because it may be a call. */
const MOST_HELD = 256 * 1024;

/** Reads an answer as it comes. Text that cannot be part of a call passes at once. */
export class ToolCallReader {
  readonly #names: ReadonlySet<string>;
  #state: 'undecided' | 'text' | 'held' = 'undecided';
  #held = '';

  constructor(tools: readonly Pick<Tool, 'name'>[]) {
    this.#names = new Set(tools.map(({ name }) => name));
  }

  /** What of it may be told as text. */
  push(text: string): string {
    if (this.#state === 'held') return this.#hold(text);
    if (this.#state === 'undecided') {
      const begun = (this.#held + text).trimStart();
      if (begun === '') {
        this.#held += text;
        return '';
      }
      // A whole answer that is an object may be a call without any mark.
      if (begun.startsWith('{')) {
        this.#state = 'held';
        return this.#hold(text);
      }
      this.#state = 'text';
    }
    return this.#scan(text);
  }

  /** The answer is over: the calls in what was held back, or the text that it was after all. */
  end(): { readonly text: string; readonly calls: readonly FoundCall[] } {
    const text = this.#held;
    this.#held = '';
    const calls = this.#callsIn(text);
    return calls ? { text: '', calls } : { text, calls: [] };
  }

  /** Text up to a mark, which may come in pieces. */
  #scan(text: string): string {
    const all = this.#held + text;
    const at = all.indexOf(OPEN);
    let free = at;
    if (at >= 0) this.#state = 'held';
    else {
      free = all.length;
      for (let length = OPEN.length - 1; length > 0 && free === all.length; length -= 1)
        if (all.endsWith(OPEN.slice(0, length))) free = all.length - length;
    }
    this.#held = all.slice(free);
    return all.slice(0, free);
  }

  #hold(text: string): string {
    this.#held += text;
    if (this.#held.length <= MOST_HELD) return '';
    const all = this.#held;
    this.#held = '';
    this.#state = 'text';
    return all;
  }

  #callsIn(text: string): FoundCall[] | undefined {
    const trimmed = text.trim();
    const parts = trimmed.startsWith(OPEN)
      ? trimmed
          .split(OPEN)
          .map((part) => part.replace(CLOSE, '').trim())
          .filter((part) => part !== '')
      : [trimmed];
    const calls = parts.map((part) => this.#callOf(part));
    return parts.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
  }

  #callOf(text: string): FoundCall | undefined {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    if (typeof value !== 'object' || value === null) return undefined;
    const { name, arguments: given, parameters } = value as Record<string, unknown>;
    if (typeof name !== 'string' || !this.#names.has(name)) return undefined;
    const input = given ?? parameters ?? {};
    return { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) };
  }
}
