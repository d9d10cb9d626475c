// How long a conversation is before anything has read it.
import type { ChatMessage } from '@strata/inference';

/** Characters of all that is said and called. */
export function lengthOf(messages: readonly ChatMessage[]): number {
  const ofCalls = (calls: ChatMessage['toolCalls'] = []) =>
    calls.reduce((sum, { name, arguments: given }) => sum + name.length + given.length, 0);
  return messages.reduce((sum, { content, toolCalls }) => sum + (content?.length ?? 0) + ofCalls(toolCalls), 0);
}
