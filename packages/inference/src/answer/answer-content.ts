// The content of an answer, independent of its form: a stream and a complete body have the same content and so the same
// digest.
import type { ChatChoice, FinishReason } from './answer.ts';
import { parsed } from './format/calls/json-call.ts';

/** One choice, with the field names of the contract. */
export interface ChoiceContent {
  readonly content: string | null;
  /** Absent without reasoning. */
  readonly reasoning_content?: string;
  readonly tool_calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** Null: the answer was interrupted. */
  readonly finish_reason: FinishReason | null;
}

/**
 * Choices in the order of their index; or the vectors of an embedding, each the base64 of its little-endian float32.
 */
export type AnswerContent = readonly ChoiceContent[] | readonly string[];

export function contentOfChoice({
  content,
  reasoning,
  toolCalls,
  finishReason,
}: Omit<ChatChoice, 'logprobs' | 'finishReason'> & { readonly finishReason: FinishReason | null }): ChoiceContent {
  // An unpaired surrogate is not valid Unicode and has no canonical form.
  const text = content === null ? null : content.toWellFormed();
  return {
    content: text,
    ...reasoningOf(reasoning.toWellFormed()),
    tool_calls: toolCalls.map(toolCallOf),
    finish_reason: finishReason,
  };
}

const reasoningOf = (text: unknown) => (typeof text === 'string' && text !== '' ? { reasoning_content: text } : {});

const toolCallOf = ({ id, name, arguments: text }: { id: string; name: string; arguments: string }) => ({
  id,
  name,
  arguments: text.toWellFormed(),
});

export function contentOfVector(vector: Float32Array): string {
  const bytes = new Uint8Array(vector.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of vector.entries()) view.setFloat32(i * 4, value, true);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

type Loose = { readonly [name: string]: unknown };
const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null;
const listOf = (value: unknown): readonly Loose[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Extracts the content of a saved answer: the body of a chat completion, completion, response or embedding request, or
 * the text of a stream of chunks. Returns undefined for anything else.
 */
export function readAnswerContent(saved: string): AnswerContent | undefined {
  const text = saved.trimStart();
  if (text.startsWith('{')) {
    const body = parsed(text);
    return isObject(body) ? contentOfBody(body) : undefined;
  }
  if (!/^(?:data|event|:)/.test(text)) return undefined;
  const chunks = text
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data:') ? [parsed(line.slice(5))] : []))
    .filter(isObject);
  const last = chunks.findLast(({ response }) => isObject(response));
  if (last) return contentOfBody(last.response as Loose);
  const choices = chunks.flatMap((chunk) => listOf(chunk.choices));
  return choices.length === 0 ? undefined : gathered(choices);
}

function contentOfBody(body: Loose): AnswerContent | undefined {
  switch (body.object) {
    case 'chat.completion':
      return listOf(body.choices).map(({ message, finish_reason }) => {
        const { content, reasoning_content, tool_calls } = isObject(message) ? message : {};
        const calls = listOf(tool_calls).map(({ id, function: called }) => callOf(id, called));
        return {
          content: typeof content === 'string' ? content : null,
          ...reasoningOf(reasoning_content),
          tool_calls: calls,
          ...reasonOf(finish_reason),
        };
      });
    case 'text_completion':
      return listOf(body.choices).map(({ text, finish_reason }) => ({
        content: textOf(text),
        tool_calls: [],
        ...reasonOf(finish_reason),
      }));
    case 'response':
      return [contentOfOutput(listOf(body.output), body.status)];
    case 'list':
      return listOf(body.data).map(({ embedding }) =>
        typeof embedding === 'string' ? embedding : contentOfVector(Float32Array.from((embedding ?? []) as number[])),
      );
    default:
      return undefined;
  }
}

function contentOfOutput(output: readonly Loose[], status: unknown): ChoiceContent {
  const texts = output.filter(({ type }) => type === 'message').flatMap(({ content }) => listOf(content));
  const calls = output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id, name, arguments: given }) => callOf(call_id, { name, arguments: given }));
  const reasoning = output.filter(({ type }) => type === 'reasoning').flatMap(({ content }) => listOf(content));
  const reason = status === 'incomplete' ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop';
  const text = texts.map((part) => textOf(part.text)).join('');
  return {
    content: text === '' && calls.length > 0 ? null : text,
    ...reasoningOf(reasoning.map((part) => textOf(part.text)).join('')),
    tool_calls: calls,
    finish_reason: reason,
  };
}

/** Assembles choices from chunks, by their index. */
function gathered(choices: readonly Loose[]): ChoiceContent[] {
  const all: {
    content: string;
    reasoning: string;
    calls: { id: string; name: string; arguments: string }[];
    reason: unknown;
  }[] = [];
  for (const { index, delta, text, finish_reason } of choices) {
    const at = Number(index);
    if (!Number.isInteger(at) || at < 0 || at > 1_000) continue;
    all[at] ??= { content: '', reasoning: '', calls: [], reason: null };
    const choice = all[at];
    const { content, reasoning_content, tool_calls } = isObject(delta) ? delta : {};
    choice.reasoning += textOf(reasoning_content);
    choice.content += textOf(content) + textOf(text);
    for (const { index: callIndex, id, function: called } of listOf(tool_calls)) {
      const number = Number(callIndex);
      if (!Number.isInteger(number) || number < 0 || number > 1_000) continue;
      const { name, arguments: given } = callOf(id, called);
      choice.calls[number] ??= { id: textOf(id), name, arguments: '' };
      choice.calls[number].arguments += given;
    }
    if (finish_reason !== null && finish_reason !== undefined) choice.reason = finish_reason;
  }
  return Array.from(all, (choice) => {
    const { content = '', reasoning, calls = [], reason } = choice ?? {};
    return {
      content: content === '' && calls.length > 0 ? null : content,
      ...reasoningOf(reasoning),
      tool_calls: calls,
      ...reasonOf(reason),
    };
  });
}

function callOf(id: unknown, called: unknown) {
  const { name, arguments: given } = isObject(called) ? called : {};
  return { id: textOf(id), name: textOf(name), arguments: textOf(given) };
}

const reasonOf = (reason: unknown) => ({
  finish_reason: typeof reason === 'string' ? (reason as FinishReason) : null,
});
