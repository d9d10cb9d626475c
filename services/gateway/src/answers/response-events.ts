// The typed events of `/v1/responses` for one choice, with sequence numbers.
import { hash } from 'node:crypto';
import {
  type AnswerHead,
  type ChatDelta,
  type FinishReason,
  type OutputItem,
  outputCall,
  outputReasoning,
  outputText,
  type ResponseFacts,
  responseObject,
  type Usage,
} from '@strata/inference';

/** The same for each gateway that sends the answer, whose id is random. */
export const itemId = (answer: string, prefix: 'rs' | 'msg' | 'fc', index: number): string =>
  `${prefix}_${hash('sha256', `${answer} ${index}`, 'base64url').slice(0, 24)}`;

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

interface OpenText {
  readonly kind: 'text' | 'reasoning';
  readonly id: string;
  readonly index: number;
  text: string;
}

/** Consumes an answer delta by delta; each call returns the resulting events. */
export class ResponseEvents {
  readonly #head: AnswerHead;
  readonly #request: ResponseFacts;
  readonly #onItem: (item: OutputItem) => void;
  readonly #output: OutputItem[] = [];
  #number = 0;
  #text: OpenText | undefined;
  #call:
    | { readonly id: string; readonly index: number; readonly callId: string; readonly name: string; given: string }
    | undefined;

  /** `onItem` is called for each item before the event with which it ends. */
  constructor(head: AnswerHead, request: ResponseFacts, onItem: (item: OutputItem) => void) {
    this.#head = head;
    this.#request = request;
    this.#onItem = onItem;
  }

  take(delta: ChatDelta): Event[] {
    switch (delta.kind) {
      case 'begin': {
        const response = responseObject(this.#head, this.#request);
        return [this.#event('response.created', { response }), this.#event('response.in_progress', { response })];
      }
      case 'text':
      case 'reasoning':
        return [...this.#closeCall(), ...this.#openText(delta.kind), ...this.#addText(delta.text)];
      case 'call': {
        const ended = [...this.#closeText('completed'), ...this.#closeCall()];
        const index = this.#output.length;
        const call = { id: itemId(this.#head.id, 'fc', index), index, callId: delta.id, name: delta.name, given: '' };
        this.#call = call;
        const item = outputCall({ ...call, status: 'in_progress' });
        return [...ended, this.#event('response.output_item.added', { output_index: call.index, item })];
      }
      case 'arguments': {
        if (!this.#call) return [];
        this.#call.given += delta.text;
        const { id: item_id, index: output_index } = this.#call;
        return [this.#event('response.function_call_arguments.delta', { item_id, output_index, delta: delta.text })];
      }
      case 'end':
        return [...this.#closeText(delta.reason === 'length' ? 'incomplete' : 'completed'), ...this.#closeCall()];
      default:
        return delta satisfies never;
    }
  }

  /** The final event. */
  end(reason: FinishReason, usage: Usage): Event {
    const response = responseObject(this.#head, this.#request, { output: this.#output, reason, usage });
    return this.#event(reason === 'length' ? 'response.incomplete' : 'response.completed', { response });
  }

  /** The final events of a cancelled answer. */
  cancel(usage: Usage): Event[] {
    const closed = [...this.#closeText('incomplete'), ...this.#closeCall()];
    const of = { output: this.#output, reason: 'stop', usage } as const;
    const response = { ...responseObject(this.#head, this.#request, of), status: 'cancelled' };
    return [...closed, this.#event('response.cancelled', { response })];
  }

  /** The answer so far; before its first event it is queued. */
  get response() {
    const status = this.#number === 0 && this.#request.isBackground ? 'queued' : 'in_progress';
    return { ...responseObject(this.#head, this.#request), output: [...this.#output], status };
  }

  /** The final event of a failed answer. */
  fail(code: string | null, message: string): Event {
    const response = { ...responseObject(this.#head, this.#request), status: 'failed', error: { code, message } };
    return this.#event('response.failed', { response });
  }

  #openText(kind: OpenText['kind']): Event[] {
    if (this.#text?.kind === kind) return [];
    const closed = this.#closeText('completed');
    const index = this.#output.length;
    const text: OpenText = { kind, id: itemId(this.#head.id, kind === 'text' ? 'msg' : 'rs', index), index, text: '' };
    this.#text = text;
    return [
      ...closed,
      this.#event('response.output_item.added', { output_index: text.index, item: this.#itemOf(text, 'in_progress') }),
      this.#event('response.content_part.added', { ...positionOf(text), part: partOf(text) }),
      ...this.#summary(text, 'part.added', { part: summaryOf(text) }),
    ];
  }

  #addText(delta: string): Event[] {
    if (!this.#text) return [];
    this.#text.text += delta;
    const more = this.#text.kind === 'text' ? { delta, logprobs: [] } : { delta };
    return [
      this.#event(`response.${nameOf(this.#text)}.delta`, { ...positionOf(this.#text), ...more }),
      ...this.#summary(this.#text, 'text.delta', { delta }),
    ];
  }

  #closeText(status: 'completed' | 'incomplete'): Event[] {
    const open = this.#text;
    if (!open) return [];
    this.#text = undefined;
    const item = this.#itemOf(open, status);
    this.#add(item);
    const more = open.kind === 'text' ? { text: open.text, logprobs: [] } : { text: open.text };
    return [
      this.#event(`response.${nameOf(open)}.done`, { ...positionOf(open), ...more }),
      this.#event('response.content_part.done', { ...positionOf(open), part: partOf(open) }),
      ...this.#summary(open, 'text.done', { text: open.text }),
      ...this.#summary(open, 'part.done', { part: summaryOf(open) }),
      this.#event('response.output_item.done', { output_index: open.index, item }),
    ];
  }

  #closeCall(): Event[] {
    const open = this.#call;
    if (!open) return [];
    this.#call = undefined;
    const item = outputCall({ ...open, status: 'completed' });
    this.#add(item);
    return [
      this.#event('response.function_call_arguments.done', {
        item_id: open.id,
        output_index: open.index,
        arguments: open.given,
      }),
      this.#event('response.output_item.done', { output_index: open.index, item }),
    ];
  }

  /** What is new of reasoning, once more as its summary, if the request asks for one. */
  #summary({ kind, id, index }: OpenText, what: string, more: Readonly<Record<string, unknown>>): Event[] {
    if (kind === 'text' || !this.#request.hasSummary) return [];
    const position = { item_id: id, output_index: index, summary_index: 0 };
    return [this.#event(`response.reasoning_summary_${what}`, { ...position, ...more })];
  }

  #itemOf({ kind, id, text }: OpenText, status: 'in_progress' | 'completed' | 'incomplete'): OutputItem {
    const { hasSummary } = this.#request;
    return kind === 'text' ? outputText(id, text, status) : outputReasoning({ id, text, status, hasSummary });
  }

  #add(item: OutputItem): void {
    this.#output.push(item);
    this.#onItem(item);
  }

  #event(type: string, more: Readonly<Record<string, unknown>>): Event {
    const event = { type, sequence_number: this.#number, ...more };
    this.#number += 1;
    return event;
  }
}

const nameOf = ({ kind }: OpenText) => (kind === 'text' ? 'output_text' : 'reasoning_text');
const positionOf = ({ id, index }: OpenText) => ({ item_id: id, output_index: index, content_index: 0 });

const summaryOf = ({ text }: OpenText) => ({ type: 'summary_text', text });

function partOf({ kind, text }: OpenText) {
  return kind === 'text' ? { type: 'output_text', text, annotations: [] } : { type: 'reasoning_text', text };
}
