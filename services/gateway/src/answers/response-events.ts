// The typed events of `/v1/responses` for one choice, with sequence numbers.
import {
  type AnswerHead,
  type ChatDelta,
  type FinishReason,
  type OutputItem,
  outputCall,
  outputText,
  type ResponsesRequest,
  responseObject,
  type Usage,
} from '@strata/inference';
import { randomText } from '../store/random-ids.ts';

export const itemId = (prefix: 'msg' | 'fc'): string => `${prefix}_${randomText(18)}`;

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** Consumes an answer delta by delta; each call returns the resulting events. */
export class ResponseEvents {
  readonly #head: AnswerHead;
  readonly #request: ResponsesRequest;
  readonly #output: OutputItem[] = [];
  #number = 0;
  #text: { readonly id: string; readonly index: number; text: string } | undefined;
  #call:
    | { readonly id: string; readonly index: number; readonly callId: string; readonly name: string; given: string }
    | undefined;

  constructor(head: AnswerHead, request: ResponsesRequest) {
    this.#head = head;
    this.#request = request;
  }

  take(delta: ChatDelta): Event[] {
    switch (delta.kind) {
      case 'begin': {
        const response = responseObject(this.#head, this.#request);
        return [this.#event('response.created', { response }), this.#event('response.in_progress', { response })];
      }
      case 'text':
        return [...this.#closeCall(), ...this.#openText(), ...this.#addText(delta.text)];
      case 'call': {
        const ended = [...this.#closeText('completed'), ...this.#closeCall()];
        const call = { id: itemId('fc'), index: this.#output.length, callId: delta.id, name: delta.name, given: '' };
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

  /** The final event of a failed answer. */
  fail(code: string | null, message: string): Event {
    const response = { ...responseObject(this.#head, this.#request), status: 'failed', error: { code, message } };
    return this.#event('response.failed', { response });
  }

  #openText(): Event[] {
    if (this.#text) return [];
    const text = { id: itemId('msg'), index: this.#output.length, text: '' };
    this.#text = text;
    const at = { item_id: text.id, output_index: text.index, content_index: 0 };
    return [
      this.#event('response.output_item.added', {
        output_index: text.index,
        item: outputText(text.id, '', 'in_progress'),
      }),
      this.#event('response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [] } }),
    ];
  }

  #addText(delta: string): Event[] {
    if (!this.#text) return [];
    this.#text.text += delta;
    const { id: item_id, index: output_index } = this.#text;
    return [
      this.#event('response.output_text.delta', { item_id, output_index, content_index: 0, delta, logprobs: [] }),
    ];
  }

  #closeText(status: 'completed' | 'incomplete'): Event[] {
    const open = this.#text;
    if (!open) return [];
    this.#text = undefined;
    const item = outputText(open.id, open.text, status);
    this.#output.push(item);
    const at = { item_id: open.id, output_index: open.index, content_index: 0 };
    return [
      this.#event('response.output_text.done', { ...at, text: open.text, logprobs: [] }),
      this.#event('response.content_part.done', { ...at, part: item.content[0] }),
      this.#event('response.output_item.done', { output_index: open.index, item }),
    ];
  }

  #closeCall(): Event[] {
    const open = this.#call;
    if (!open) return [];
    this.#call = undefined;
    const item = outputCall({ ...open, status: 'completed' });
    this.#output.push(item);
    return [
      this.#event('response.function_call_arguments.done', {
        item_id: open.id,
        output_index: open.index,
        arguments: open.given,
      }),
      this.#event('response.output_item.done', { output_index: open.index, item }),
    ];
  }

  #event(type: string, more: Readonly<Record<string, unknown>>): Event {
    const event = { type, sequence_number: this.#number, ...more };
    this.#number += 1;
    return event;
  }
}
