// Renders a conversation with the model's own template, in pieces that separate control tokens from user text.
import { Template } from '@huggingface/jinja';
import type { ChatMessage } from '@strata/inference';
import { type ChatPrompt, EngineError } from '../engine.ts';

interface TemplatePiece {
  readonly text: string;
  /** Whether control tokens in it are interpreted. */
  readonly hasControl: boolean;
}

export interface TemplateOptions {
  /** Jinja, as in the model file. */
  readonly source: string;
  readonly bos: string;
  readonly eos: string;
  /** Texts that would control the model if they were interpreted. */
  readonly controls: readonly string[];
}

/** A numbered placeholder in the template's output. */
const MARK = /\uE000(\d+)\uE001/;
const MARK_BEGIN = '\uE000';

/** Throws EngineError `template-failed`, also when the template rejects the conversation. */
export function renderChat(prompt: ChatPrompt, options: TemplateOptions): readonly TemplatePiece[] {
  const input = inputOf(hasTools(options.source) ? prompt : withToolsAsText(prompt));
  // Control texts in the input are replaced by placeholders, and inserted into the template's output as plain text.
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

/** Whether the template formats tools as its model was trained. */
export function hasTools(source: string): boolean {
  return /\btools\b/.test(source);
}

/** For a template without tools: lists the functions before the conversation. */
function withToolsAsText({ messages, tools }: ChatPrompt): ChatPrompt {
  if (tools.length === 0) return { messages, tools };
  const list = tools
    .map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }))
    .join('\n');
  const text = `You may call one of these functions. To call one, answer with nothing but {"name": …, "arguments": {…}}.\n${list}`;
  const [first, ...rest] = messages;
  const isSystem = first?.role === 'system' || first?.role === 'developer';
  const content = isSystem && first.content !== null ? `${first.content}\n\n${text}` : text;
  return { messages: [{ role: 'system', content }, ...(isSystem ? rest : messages)], tools: [] };
}

function render(input: Record<string, unknown>, { source, bos, eos }: TemplateOptions): string {
  try {
    return new Template(source).render({ ...input, bos_token: bos, eos_token: eos, add_generation_prompt: true });
  } catch (cause) {
    throw new EngineError(
      'template-failed',
      `the model's chat template cannot render this conversation: ${messageOf(cause)}`,
      {
        cause,
      },
    );
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message.slice(0, 200) : 'unknown';
}

/** The input that templates expect: names of the contract, with `developer` mapped to `system`. */
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

/** Templates expect the object; invalid JSON stays text, and so does JSON that nests too deeply. */
function argumentsOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isDeep(value, MAX_NESTED) ? text : value;
  } catch {
    return text;
  }
}

/** The same value with every text in it, names included, replaced. */
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

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeep(each, levels - 1));
}
