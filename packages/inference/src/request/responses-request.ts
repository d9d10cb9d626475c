// Requests of `/v1/responses`, converted to chat requests: input items become messages.
import { z } from 'zod';
import { CompletionError } from '../errors.ts';
import { chatFields, completionFields, embeddingFields, MAX_TEXT, optional } from './fields.ts';
import { parse } from './parse-fields.ts';
import { type ChatRequest, readChatRequest } from './request.ts';

const text = z.string().max(MAX_TEXT, 'is too long');
const part = z.object({ type: z.string().max(64), text: optional(text), refusal: optional(text) });
const item = z.object({
  type: optional(z.string().max(64)),
  id: optional(z.string().max(256)),
  role: optional(z.string().max(64)),
  content: optional(z.union([text, z.array(part).max(1_024)])),
  call_id: optional(z.string().max(256)),
  name: optional(z.string().max(128)),
  arguments: optional(text),
  output: optional(z.union([text, z.array(part).max(1_024)])),
  summary: optional(z.array(part).max(1_024)),
  // Of another service, which alone can read it: accepted and not used.
  encrypted_content: optional(text),
});
/** The body of `/v1/responses`. */
const responseFields = z.object({
  model: z.string('must name a model').min(1, 'must name a model').max(256),
  input: z.union([text, z.array(item).min(1, 'must hold an item').max(4_096)], 'must be a string or a list of items'),
  instructions: optional(text),
  stream: optional(z.boolean()),
  max_output_tokens: z.unknown().optional(),
  temperature: z.unknown().optional(),
  top_p: z.unknown().optional(),
  tools: optional(z.array(z.object({ type: z.string().max(64) }).loose()).max(128, 'has too many tools')),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.unknown().optional(),
  text: optional(z.object({ format: optional(z.object({ type: z.string().max(64) }).loose()) })),
  previous_response_id: z.unknown().optional(),
  conversation: z.unknown().optional(),
  background: optional(z.boolean()),
  metadata: optional(z.record(z.string(), z.unknown())),
  reasoning: optional(
    z.object({ effort: z.unknown().optional(), summary: optional(z.enum(['auto', 'concise', 'detailed'])) }).loose(),
  ),
  chat_template_kwargs: z.unknown().optional(),
  prompt_cache_key: z.unknown().optional(),
  user: z.unknown().optional(),
  store: optional(z.boolean()),
});

export interface ResponsesRequest {
  readonly chat: ChatRequest;
  /** Whether later requests may refer to the items of the answer. */
  readonly isKept: boolean;
  /** Whether the answer does not wait for its client: it is stored, and generated also without one. */
  readonly isBackground: boolean;
  /** Whether the reasoning of the answer is also given as its summary. */
  readonly hasSummary: boolean;
  /** The fields of the request that the answer repeats unchanged. */
  readonly echo: {
    readonly instructions: string | null;
    readonly tools: readonly unknown[];
    readonly toolChoice: unknown;
    readonly format: unknown;
    readonly metadata: Readonly<Record<string, unknown>>;
  };
  /** Translates the parameter names of an error on the chat request to the names of `/v1/responses`. */
  readonly renamed: (error: CompletionError) => CompletionError;
}

/** Parameters that have a different name in chat completions. */
const NAMES: readonly (readonly [chat: RegExp, own: string])[] = [
  [/^tools(\[\d+\])\.function\b/, 'tools$1'],
  [/^tool_choice\.allowed_tools\b/, 'tool_choice'],
  [/^max_completion_tokens\b/, 'max_output_tokens'],
  [/^response_format\b/, 'text.format'],
  [/^reasoning_effort\b/, 'reasoning.effort'],
];

/** The output item of an earlier answer with this id; undefined if it is not known. */
type FindItem = (id: string) => object | undefined;

/**
 * Throws CompletionError that names the first invalid parameter. A conversation cannot refer to earlier responses;
 * `itemOf` finds their items.
 */
export function readResponsesRequest(body: unknown, itemOf: FindItem = () => undefined): ResponsesRequest {
  const given = parse(responseFields, body);
  for (const param of ['previous_response_id', 'conversation'] as const) {
    if (given[param] !== undefined && given[param] !== null && given[param] !== false)
      throw new CompletionError('unsupported_value', 'Conversations are not stored: send the full conversation.', {
        param,
      });
  }
  const isBackground = given.background ?? false;
  if (isBackground && given.store === false)
    throw new CompletionError('invalid_value', '`background` requires `store` to be true.', { param: 'store' });
  const format = given.text?.format;
  const tools = given.tools ?? [];
  const { messages, origins } = messagesOf(given, itemOf);
  const renamed = (error: CompletionError) => renamedOf(error, origins);
  const chat = {
    model: given.model,
    messages,
    stream: given.stream,
    max_completion_tokens: given.max_output_tokens,
    temperature: given.temperature,
    top_p: given.top_p,
    parallel_tool_calls: given.parallel_tool_calls,
    prompt_cache_key: given.prompt_cache_key,
    store: isBackground || given.store,
    user: given.user,
    reasoning_effort: given.reasoning?.effort,
    chat_template_kwargs: given.chat_template_kwargs,
    tools: tools.length > 0 ? tools.map(({ type, ...own }) => ({ type, function: own })) : undefined,
    tool_choice: choiceOf(given.tool_choice, tools.length > 0),
    response_format: format?.type === 'json_schema' ? { type: format.type, json_schema: { ...format } } : format,
  };
  try {
    return {
      // The original API's reference: without `strict` it is attempted, and given up for a schema that does not allow it.
      chat: { ...readChatRequest(chat), prefersStrict: true },
      isKept: given.store !== false,
      isBackground,
      hasSummary: given.reasoning?.summary !== undefined,
      echo: {
        instructions: given.instructions ?? null,
        tools,
        toolChoice: given.tool_choice ?? 'auto',
        format: format ?? { type: 'text' },
        metadata: given.metadata ?? {},
      },
      renamed,
    };
  } catch (error) {
    throw error instanceof CompletionError ? renamed(error) : error;
  }
}

type Given = z.output<typeof responseFields>;
type Item = z.output<typeof item>;

/** `origins`: the input field that each message comes from. */
function messagesOf(
  { input, instructions }: Given,
  itemOf: FindItem,
): { readonly messages: unknown[]; readonly origins: string[] } {
  const messages: Record<string, unknown>[] = [];
  const origins: string[] = [];
  let reasoning: string[] = [];
  let referredLength = 0;
  const add = (message: Record<string, unknown>, origin: string) => {
    const isAnswer = message.role === 'assistant' && reasoning.length > 0;
    messages.push(isAnswer ? { ...message, reasoning_content: reasoning.join('\n\n') } : message);
    origins.push(origin);
    reasoning = [];
  };
  if (instructions !== undefined) add({ role: 'system', content: instructions }, 'instructions');
  if (typeof input === 'string') add({ role: 'user', content: input }, 'input');
  else {
    for (const [i, sent] of input.entries()) {
      const each = sent.type === 'item_reference' ? referred(itemOf(sent.id ?? ''), i) : sent;
      if (each !== sent) referredLength += lengthOf(each);
      if (referredLength > MAX_TEXT) throw tooLong(i);
      if (each.type === 'reasoning') {
        const thought = textOf(each);
        if (thought !== '') reasoning.push(thought);
        continue;
      }
      const message = messageOf(each, i);
      const last = messages.at(-1);
      // An answer is one message: its text, then its calls.
      if (Array.isArray(message.tool_calls) && last?.role === 'assistant' && reasoning.length === 0)
        last.tool_calls = [...(Array.isArray(last.tool_calls) ? last.tool_calls : []), ...message.tool_calls];
      else add(message, `input[${i}]`);
    }
  }
  return { messages, origins };
}

function referred(found: object | undefined, at: number): Item {
  if (found) return item.parse(found);
  throw new CompletionError('invalid_value', 'This item is not known, or not any more: send the item itself.', {
    param: `input[${at}].id`,
  });
}

/** A small request can refer to one long item many times. */
function tooLong(at: number): CompletionError {
  const message = `The items that the input refers to are longer than ${MAX_TEXT} characters.`;
  return new CompletionError('invalid_value', message, { param: `input[${at}].id` });
}

const lengthOf = (given: Item): number => textOf(given).length + (given.arguments?.length ?? 0);

/** The text of an item; of a reasoning item without one, the summary. */
function textOf({ content, summary }: Item): string {
  const joined = (given: Item['content']) =>
    typeof given === 'string' ? given : given?.map((each) => each.text ?? '').join('\n\n');
  return joined(content) || joined(summary) || '';
}

function messageOf(given: Item, at: number): Record<string, unknown> {
  const { type = 'message', role, content, call_id, name } = given;
  switch (type) {
    case 'message':
      return {
        role,
        content:
          typeof content === 'string' ? content : content?.map((each, i) => partOf(each, `input[${at}].content[${i}]`)),
      };
    case 'function_call':
      return {
        role: 'assistant',
        tool_calls: [{ id: call_id, type: 'function', function: { name, arguments: given.arguments } }],
      };
    case 'function_call_output': {
      const { output } = given;
      return {
        role: 'tool',
        tool_call_id: call_id,
        content:
          typeof output === 'string' ? output : output?.map((each, i) => partOf(each, `input[${at}].output[${i}]`)),
      };
    }
    default:
      throw new CompletionError('unsupported_value', `Items of type '${type}' are not supported.`, {
        param: `input[${at}].type`,
      });
  }
}

function partOf({ type, text, refusal }: z.output<typeof part>, param: string): Record<string, unknown> {
  if (type === 'input_text' || type === 'output_text' || type === 'text') return { type: 'text', text };
  if (type === 'refusal') return { type, refusal };
  throw new CompletionError(
    'unsupported_value',
    `Only text input is supported: a part of type '${type}' cannot be used.`,
    { param: `${param}.type` },
  );
}

/** The original API accepts a choice that needs no tools without them. */
function choiceOf(choice: unknown, hasTools: boolean): unknown {
  if (!hasTools && (choice === 'auto' || choice === 'none')) return undefined;
  if (typeof choice !== 'object' || choice === null) return choice;
  const { type, mode, tools, ...own } = choice as Record<string, unknown>;
  if (type !== 'allowed_tools') return { type, function: own };
  const named = Array.isArray(tools) ? tools.map((each) => choiceOf(each, hasTools)) : tools;
  return { type, allowed_tools: { mode, tools: named } };
}

function renamedOf(error: CompletionError, origins: readonly string[]): CompletionError {
  const { param } = error;
  if (param === null) return error;
  const at = /^messages\[(\d+)\]/.exec(param);
  let own = at
    ? (origins[Number(at[1])] ?? 'input') + param.slice(at[0].length)
    : param.replace(/^messages\b/, 'input');
  for (const [chat, name] of NAMES) own = own.replace(chat, name);
  if (own === param) return error;
  const { kind, message, headers, retryAfterMs } = error;
  return new CompletionError(kind, message.replaceAll(param, own), {
    param: own,
    headers,
    cause: error,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The schemas of all request bodies, by their names in the OpenAPI document. */
export const requestSchemas = {
  ChatCompletionRequest: chatFields,
  CompletionRequest: completionFields,
  ResponseRequest: responseFields,
  EmbeddingRequest: embeddingFields,
} as const;
