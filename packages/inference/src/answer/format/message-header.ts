// Headers of messages within one answer, as gpt-oss writes them: `<|channel|>analysis<|message|>`, and Muse:
// `<|start|>assistant to=self<|message|>`. https://github.com/openai/harmony

const CHANNEL = '<|channel|>';
/** Marks that begin a header, its end, and the marks that end a message. */
export const HEADERS: readonly string[] = ['<|start|>', CHANNEL];
export const MESSAGE = '<|message|>';
export const MESSAGE_ENDS: readonly string[] = ['<|end|>', '<|call|>', '<|return|>', '<|eom|>', '<|eot|>'];

export type Route = { readonly kind: 'text' | 'reasoning' } | { readonly kind: 'call'; readonly name: string };

const READERS = new Set(['user', 'assistant', 'all']);

/** What the message after this header is. */
export function routeOf(header: string): Route {
  const at = header.lastIndexOf(CHANNEL);
  const channel = at < 0 ? undefined : /^\s*(\w+)/.exec(header.slice(at + CHANNEL.length))?.[1];
  const recipient = /\bto=([^\s<]+)/.exec(header)?.[1];
  if (channel === 'final') return { kind: 'text' };
  if (recipient === 'self') return { kind: 'reasoning' };
  if (recipient !== undefined && !READERS.has(recipient))
    return { kind: 'call', name: recipient.replace(/^functions\./, '') };
  return { kind: channel === 'analysis' ? 'reasoning' : 'text' };
}
