// A conversation as the model's own template writes it, in pieces of which some may steer the model and others may not.
import { Template } from '@huggingface/jinja';
import type { ChatMessage } from '@strata/inference';
import { type ChatPrompt, EngineError } from './engine.ts';

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

const MARK = /\uE000(\d+)\uE001/;

/** Throws EngineError `template-failed`, also when the template itself refuses the conversation. */
export function renderChat(prompt: ChatPrompt, options: TemplateOptions): readonly TemplatePiece[] {
  const input = inputOf(hasTools(options.source) ? prompt : inWords(prompt));
  const isHarmless = !options.controls.some((control) => holds(input, control));
  if (isHarmless) return [{ text: render(input, options), hasControl: true }];
  // Somebody's words look like control tokens: each text is put in after the template was written.
  const texts: string[] = [];
  const mark = (text: string) => `\uE000${texts.push(text) - 1}\uE001`;
  const isControl = (text: string) => options.controls.some((control) => text.includes(control));
  const marked = marking(
    input,
    (text) => (text === '' ? text : mark(text)),
    (name) => (isControl(name) ? mark(name) : name),
  );
  return render(marked, options)
    .split(MARK)
    .map((piece, i) =>
      i % 2 === 0 ? { text: piece, hasControl: true } : { text: texts[Number(piece)] ?? '', hasControl: false },
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

/** Templates want the object; what is none stays text. */
function argumentsOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Names that say what something is; templates look into them, and no caller can choose them. */
const KINDS = new Set(['role', 'type']);

function holds(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, each]) => name.includes(text) || holds(each, text));
}

function marking(
  value: Record<string, unknown>,
  text: (given: string) => string,
  name: (given: string) => string,
): Record<string, unknown> {
  const marked = (each: unknown): unknown => {
    if (typeof each === 'string') return text(each);
    if (Array.isArray(each)) return each.map(marked);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(
      Object.entries(each).map(([key, inner]) => [name(key), KINDS.has(key) ? inner : marked(inner)]),
    );
  };
  return marked(value) as Record<string, unknown>;
}
