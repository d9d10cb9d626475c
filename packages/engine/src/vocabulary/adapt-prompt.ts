// What a template has no notion of is written as text: tools, tool turns, a system message.
import type { ChatMessage } from '@strata/inference';
import type { ChatPrompt } from '../engine.ts';

/** `render` writes a probe with the template, and may throw. */
export function promptFor(prompt: ChatPrompt, source: string, render: (probe: ChatPrompt) => string): ChatPrompt {
  const withTools = hasTools(source) ? prompt : withToolsAsText(prompt);
  const withTurns = hasToolTurns(source) ? withTools : withToolTurnsAsText(withTools);
  const isProbed = withTurns.messages.some(isSystem) && !/system/.test(source);
  return isProbed && !writesSystem(render) ? withSystemInUserTurn(withTurns) : withTurns;
}

/** Whether the template formats tools as its model was trained. */
export function hasTools(source: string): boolean {
  return /\btools\b/.test(source);
}

/** Whether the template formats tool calls or their results. */
function hasToolTurns(source: string): boolean {
  return /\btool_calls?\b|['"]tool['"]/.test(source);
}

const isSystem = ({ role }: ChatMessage) => role === 'system' || role === 'developer';
const PROBE = 'probe of the system message';

/** Whether a template that does not name the role writes its messages all the same. */
function writesSystem(render: (probe: ChatPrompt) => string): boolean {
  const messages = [
    { role: 'system', content: PROBE },
    { role: 'user', content: '?' },
  ] as const;
  try {
    return render({ messages, tools: [] }).includes(PROBE);
  } catch {
    return false;
  }
}

/** Lists the functions before the conversation. */
function withToolsAsText(prompt: ChatPrompt): ChatPrompt {
  const { messages, tools } = prompt;
  if (tools.length === 0) return prompt;
  const list = tools
    .map(({ name, description, parameters }) => JSON.stringify({ name, description, parameters }))
    .join('\n');
  const text = `You may call one of these functions. To call one, answer with nothing but {"name": …, "arguments": {…}}.\n${list}`;
  const [first, ...rest] = messages;
  const hasSystem = first !== undefined && isSystem(first);
  const content = hasSystem && first.content !== null ? `${first.content}\n\n${text}` : text;
  return { ...prompt, messages: [{ role: 'system', content }, ...(hasSystem ? rest : messages)], tools: [] };
}

/** Calls as the JSON that `withToolsAsText` asks for, results in user turns. */
function withToolTurnsAsText(prompt: ChatPrompt): ChatPrompt {
  if (!prompt.messages.some(({ role, toolCalls }) => role === 'tool' || toolCalls)) return prompt;
  const messages = prompt.messages.map(({ toolCalls, toolCallId, ...message }): ChatMessage => {
    if (message.role === 'tool') {
      const name = message.name ?? calledName(prompt.messages, toolCallId) ?? 'the function';
      return { role: 'user', content: `Result of ${name}:\n${message.content ?? ''}` };
    }
    if (!toolCalls) return message;
    const calls = toolCalls.map((call) => `{"name": ${JSON.stringify(call.name)}, "arguments": ${call.arguments}}`);
    return { ...message, content: [...(message.content ? [message.content] : []), ...calls].join('\n') };
  });
  return { ...prompt, messages: joinedTurns(messages) };
}

/** The function that the call with an id named. */
export function calledName(messages: readonly ChatMessage[], id: string | undefined): string | undefined {
  if (id === undefined) return undefined;
  return messages.flatMap(({ toolCalls }) => toolCalls ?? []).findLast((call) => call.id === id)?.name;
}

/** The system's text before that of the first user turn. */
export function withSystemInUserTurn(prompt: ChatPrompt): ChatPrompt {
  const messages = prompt.messages.map((each): ChatMessage => (isSystem(each) ? { ...each, role: 'user' } : each));
  return { ...prompt, messages: joinedTurns(messages) };
}

/** Templates without these roles demand that user and assistant alternate. */
function joinedTurns(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const joined: ChatMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === 'user' && message.role === 'user')
      joined[joined.length - 1] = { ...last, content: `${last.content ?? ''}\n${message.content ?? ''}` };
    else joined.push(message);
  }
  return joined;
}
