// A message of a conversation: its content as plain text, and the calls that it contains.
import type { z } from 'zod';
import { CompletionError } from '../errors.ts';
import type { message } from './fields.ts';

/** One message, with its content as plain text. */
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string | null;
  readonly name?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly toolCallId?: string;
  /** What an answer's model thought before it. */
  readonly reasoning?: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The JSON text as the model generated it. */
  readonly arguments: string;
}

/** `at`: its index in `messages`. Throws CompletionError that names the unusable parameter. */
export function toMessage(given: z.output<typeof message>, at: number): ChatMessage {
  const param = `messages[${at}]`;
  switch (given.role) {
    case 'tool':
      return {
        role: 'tool',
        content: textOf(given.content, param),
        toolCallId: given.tool_call_id,
        ...(given.name === undefined ? {} : { name: given.name }),
      };
    case 'function':
      return { role: 'tool', content: textOf(given.content ?? '', param), name: given.name };
    case 'assistant': {
      const { content, refusal, name, tool_calls } = given;
      const reasoning = given.reasoning_content ?? given.reasoning;
      if (content === undefined && refusal === undefined && !tool_calls?.length)
        throw new CompletionError('invalid_value', 'An assistant message must have content or tool calls.', {
          param: `${param}.content`,
        });
      return {
        role: 'assistant',
        content: content === undefined ? (refusal ?? null) : textOf(content, param),
        ...(name === undefined ? {} : { name }),
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(tool_calls?.length
          ? {
              toolCalls: tool_calls.map((call) => ({
                id: call.id ?? '',
                name: call.function.name,
                arguments: call.function.arguments,
              })),
            }
          : {}),
      };
    }
    default: {
      const { role, content, name } = given;
      return { role, content: textOf(content, param), ...(name === undefined ? {} : { name }) };
    }
  }
}

function textOf(content: string | readonly object[], param: string): string {
  if (typeof content === 'string') return content;
  return content
    .map((part, i) => {
      if ('text' in part) return String(part.text);
      if ('refusal' in part) return String(part.refusal);
      const type = 'type' in part ? String(part.type) : 'unknown';
      throw new CompletionError(
        'unsupported_value',
        `Only text input is supported: a part of type '${type}' cannot be used.`,
        {
          param: `${param}.content[${i}].type`,
        },
      );
    })
    .join('');
}
