// Collects what is read from an answer: text, reasoning and calls, as increments.
import type { Tool } from '../../../request/request.ts';
import { MAX_NAME } from '../syntax.ts';

/** An increment of an answer. `at` is the index of the call. */
export type OutputDelta =
  /** `end` is its position in the text that was read. `isReasoning`: reasoning that is kept as text, or its mark. */
  | { readonly kind: 'text'; readonly text: string; readonly end: number; readonly isReasoning?: true }
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
  /** The state before what may be discarded. */
  #before: { readonly deltas: OutputDelta[]; readonly count: number } | undefined;
  /** Whether the last call was broken off by what its notation does not have. */
  isBroken = false;

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
    if (!this.#before) this.onCall();
    this.#count += 1;
    if (this.#count <= this.#max) this.#deltas.push({ kind: 'call', at: this.#count - 1, name });
  }

  arguments(text: string): void {
    if (text !== '' && this.#count <= this.#max) this.#deltas.push({ kind: 'arguments', at: this.#count - 1, text });
  }

  /** `kept`: reasoning as text. */
  write(kind: 'text' | 'reasoning' | 'kept', text: string, end: number): void {
    if (text === '') return;
    if (kind === 'reasoning') this.#deltas.push({ kind, text });
    else this.#deltas.push({ kind: 'text', text, end, ...(kind === 'kept' ? { isReasoning: true } : {}) });
  }

  /** Keeps calls back until they are settled. */
  hold(): void {
    this.#before = { deltas: this.#deltas, count: this.#count };
    this.#deltas = [];
  }

  /** Emits or discards what was kept back. */
  settle(isCall: boolean): void {
    const held = this.#deltas;
    if (!this.#before) return;
    this.#deltas = this.#before.deltas;
    if (!isCall) this.#count = this.#before.count;
    this.#before = undefined;
    if (!isCall) return;
    this.onCall();
    this.#deltas = [...this.#deltas, ...held];
  }

  take(): readonly OutputDelta[] {
    if (this.#before) return this.#before.deltas.splice(0);
    const deltas = this.#deltas;
    this.#deltas = [];
    return deltas;
  }
}
