// Collects what is read from an answer: text, reasoning and calls, as increments.
import type { Tool } from '../../../request/request.ts';
import { MAX_NAME } from '../syntax.ts';

/** An increment of an answer. `at` is the index of the call. */
export type OutputDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly at: number; readonly name: string }
  /** A piece of the JSON text. */
  | { readonly kind: 'arguments'; readonly at: number; readonly text: string };

export type Schema = Readonly<Record<string, unknown>>;
export type CallableTool = Pick<Tool, 'name'> & { readonly parameters?: Schema };

export class CallWriter {
  readonly #tools: ReadonlyMap<string, CallableTool>;
  readonly #max: number;
  /** Called before each call. */
  onCall: () => void = () => {};
  #count = 0;
  #deltas: OutputDelta[] = [];

  /** Calls after the first `max` are dropped. */
  constructor(tools: readonly CallableTool[], max: number) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#max = max;
  }

  get hasTools(): boolean {
    return this.#tools.size > 0;
  }

  get count(): number {
    return this.#count;
  }

  /** The tool of this name, if it may be called. */
  tool(name: string | undefined): CallableTool | undefined {
    return name === undefined || name.length > MAX_NAME ? undefined : this.#tools.get(name);
  }

  begin(name: string): void {
    this.onCall();
    this.#count += 1;
    if (this.#count <= this.#max) this.#deltas.push({ kind: 'call', at: this.#count - 1, name });
  }

  arguments(text: string): void {
    if (text !== '' && this.#count <= this.#max) this.#deltas.push({ kind: 'arguments', at: this.#count - 1, text });
  }

  write(kind: 'text' | 'reasoning', text: string): void {
    if (text !== '') this.#deltas.push({ kind, text });
  }

  take(): readonly OutputDelta[] {
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }
}
