// The variables of a chat template, as transformers' `apply_chat_template` names them
// (huggingface.co/docs/transformers/chat_templating_writing).
import { createHash } from 'node:crypto';
import type { ChatMessage, Tool } from '@strata/inference';
import type { ChatPrompt } from '../engine.ts';
import { calledName } from './adapt-prompt.ts';

/** How a conversation is given to a template; templates support some of these forms. */
export interface InputForm {
  readonly arguments: 'object' | 'text';
  readonly noContent: 'null' | 'empty';
  readonly content: 'text' | 'parts';
}

/** The forms to try, in this order; those only that differ for this conversation. */
export function formsOf({ messages }: ChatPrompt): readonly InputForm[] {
  const hasCalls = messages.some(({ toolCalls }) => toolCalls);
  const hasNull = messages.some(({ content }) => content === null);
  const forms: InputForm[] = [];
  for (const content of ['text', 'parts'] as const)
    for (const noContent of hasNull ? (['null', 'empty'] as const) : (['null'] as const))
      for (const args of hasCalls ? (['object', 'text'] as const) : (['object'] as const))
        forms.push({ arguments: args, noContent, content });
  return forms;
}

export interface TemplateInputOptions {
  readonly form: InputForm;
  readonly source: string;
  /** Applied to every text, names included. */
  readonly mark: (text: string) => string;
  /** Applied to the content of answers instead. */
  readonly markAnswer: (text: string) => string;
}

/** Throws nothing; JSON that nests too deeply stays text. */
export function templateInput(prompt: ChatPrompt, options: TemplateInputOptions): Record<string, unknown> {
  const { mark, markAnswer } = options;
  const messages = prompt.messages.map((message) => {
    const { content, ...rest } = messageInput(message, prompt.messages, options);
    const isAnswer = message.role === 'assistant' && typeof content === 'string';
    return { ...withTexts(rest, mark), content: isAnswer ? markAnswer(content) : textsOf(content, mark) };
  });
  const tools = prompt.tools.length > 0 ? { tools: textsOf(prompt.tools.map(toolInput), mark) } : {};
  const variables = prompt.variables ?? {};
  // Templates switch thinking off by one of two names.
  const noThinking = variables.reasoning_effort === 'none' ? { enable_thinking: false, thinking: false } : {};
  return { ...noThinking, ...withTexts(variables, mark), messages, ...tools };
}

/** Templates that write a tool as JSON keep this order. */
function toolInput({ name, description, parameters, return: result }: Tool) {
  const described = description === undefined ? {} : { description };
  return {
    type: 'function',
    function: { name, ...described, parameters, ...(result === undefined ? {} : { return: result }) },
  };
}

function messageInput(
  message: ChatMessage,
  messages: readonly ChatMessage[],
  { form, source }: TemplateInputOptions,
): Record<string, unknown> {
  const { role, toolCalls, toolCallId, reasoning } = message;
  const name = message.name ?? (role === 'tool' ? calledName(messages, toolCallId) : undefined);
  const idOf = (id: string) => (/\blength\s?!=\s?9\b/.test(source) ? shortId(id) : id);
  return {
    // Most templates have no developer role.
    role: role === 'developer' ? 'system' : role,
    content: contentInput(message.content, form),
    ...(name === undefined ? {} : { name }),
    ...(reasoning === undefined ? {} : reasoningInput(message, source)),
    ...(toolCalls
      ? {
          tool_calls: toolCalls.map((call) => ({
            ...(call.id === '' ? {} : { id: idOf(call.id) }),
            type: 'function',
            function: { name: call.name, arguments: argumentsInput(call.arguments, form) },
          })),
        }
      : {}),
    ...(toolCallId === undefined ? {} : { tool_call_id: idOf(toolCallId) }),
  };
}

/** gpt-oss names it `thinking`, and refuses it beside the content of a call. */
function reasoningInput({ reasoning, content, toolCalls }: ChatMessage, source: string): Record<string, unknown> {
  if (source.includes('reasoning_content') || !/\bmessage\.thinking\b/.test(source))
    return { reasoning_content: reasoning };
  return toolCalls && content ? {} : { thinking: reasoning };
}

function contentInput(content: string | null, form: InputForm): unknown {
  if (content === null) return form.noContent === 'null' ? null : '';
  return form.content === 'text' ? content : [{ type: 'text', text: content }];
}

/** Mistral's templates demand nine letters and digits. */
function shortId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}

/** Invalid JSON stays text, and so does JSON that nests too deeply. */
function argumentsInput(text: string, form: InputForm): unknown {
  if (form.arguments === 'text') return text;
  try {
    const value: unknown = JSON.parse(text);
    return isDeep(value, MAX_NESTED) ? text : value;
  } catch {
    return text;
  }
}

/** The same value with every text in it, names included, replaced. */
function textsOf(value: unknown, write: (given: string) => string): unknown {
  if (typeof value === 'string') return write(value);
  if (Array.isArray(value)) return value.map((each) => textsOf(each, write));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [write(name), textsOf(inner, write)]));
}

/** The names of the outermost members are the template's. */
function withTexts(
  value: Readonly<Record<string, unknown>>,
  write: (given: string) => string,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, textsOf(each, write)]));
}

const MAX_NESTED = 200;

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeep(each, levels - 1));
}
