// A conversation as the model's own template writes it, in pieces of which some may steer the model and others may not.
import { Template } from '@huggingface/jinja';
import type { ChatMessage } from '@strata/inference';
import { type ChatPrompt, EngineError } from '../engine.ts';

export interface TemplatePiece {
  readonly text: string;
  /** Whether control tokens in it are meant. */
  readonly hasControl: boolean;
}

export interface TemplateOptions {
  /** Jinja, as in the model file. */
  readonly source: string;
  readonly bos: string;
  readonly eos: string;
  /** What somebody may write who wants to steer the model. */
  readonly controls: readonly string[];
}

/** A place in what the template wrote, by its number. */
const MARK = /\uE000(\d+)\uE001/;
const MARK_BEGIN = '\uE000';

/** Throws EngineError `template-failed`, also when the template itself refuses the conversation. */
export function renderChat(prompt: ChatPrompt, options: TemplateOptions): readonly TemplatePiece[] {
  const input = inputOf(hasTools(options.source) ? prompt : inWords(prompt));
  // What looks like control in somebody's words, wherever these stand, is put in after the template was written, as words.
  const controls = new RegExp([...options.controls, MARK_BEGIN].map(RegExp.escape).join('|'), 'g');
  const found: string[] = [];
  const marked = withTexts(input, (text) =>
    text.replaceAll(controls, (control) => `${MARK_BEGIN}${found.push(control) - 1}\uE001`),
  );
  return render(marked, options)
    .split(MARK)
    .map((piece, i) =>
      i % 2 === 0 ? { text: piece, hasControl: true } : { text: found[Number(piece)] ?? '', hasControl: false },
    )
    .filter(({ text }) => text !== '');
}

/** Whether the template writes tools in the way that its model was trained on. */
export function hasTools(source: string): boolean {
  return /\btools\b/.test(source);
}

/** For a template that knows no tools: what there is to call stands before the conversation. */
function inWords({ messages, tools }: ChatPrompt): ChatPrompt {
  if (tools.length === 0) return { messages, tools };
  const list = tools
    .map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }))
    .join('\n');
  const words = `You may call one of these functions. To call one, answer with nothing but {"name": …, "arguments": {…}}.\n${list}`;
  const [first, ...rest] = messages;
  const isSystem = first?.role === 'system' || first?.role === 'developer';
  const content = isSystem && first.content !== null ? `${first.content}\n\n${words}` : words;
  return { messages: [{ role: 'system', content }, ...(isSystem ? rest : messages)], tools: [] };
}

function render(input: Record<string, unknown>, { source, bos, eos }: TemplateOptions): string {
  try {
    return new Template(source).render({ ...input, bos_token: bos, eos_token: eos, add_generation_prompt: true });
  } catch (cause) {
    throw new EngineError(
      'template-failed',
      `the model's chat template cannot write this conversation: ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message.slice(0, 200) : 'unknown';
}

/** As templates expect it: the names are those of the contract, and a developer is the system. */
function inputOf({ messages, tools }: ChatPrompt): Record<string, unknown> {
  return {
    messages: messages.map(messageInput),
    ...(tools.length > 0
      ? {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: { name, description: description ?? '', parameters },
          })),
        }
      : {}),
  };
}

function messageInput({ role, content, name, toolCalls, toolCallId }: ChatMessage): Record<string, unknown> {
  return {
    role: role === 'developer' ? 'system' : role,
    content: content ?? '',
    ...(name === undefined ? {} : { name }),
    ...(toolCalls
      ? {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: argumentsOf(call.arguments) },
          })),
        }
      : {}),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
  };
}

/** Templates want the object; what is none stays text, and so does what nests too deep for them. */
function argumentsOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isDeep(value, MAX_NESTED) ? text : value;
  } catch {
    return text;
  }
}

/** The same value with every text in it, names included, made another. */
function withTexts(value: Record<string, unknown>, write: (given: string) => string): Record<string, unknown> {
  const written = (each: unknown): unknown => {
    if (typeof each === 'string') return write(each);
    if (Array.isArray(each)) return each.map(written);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [write(name), written(inner)]));
  };
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, written(each)]));
}

const MAX_NESTED = 200;

function isDeep(value: unknown, room: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return room === 0 || Object.values(value).some((each) => isDeep(each, room - 1));
}
