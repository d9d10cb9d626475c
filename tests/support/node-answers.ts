// Requests to nodes, and their event streams.
import { openStream, type StreamEvent } from '../../services/stack/src/test/stream-reader.ts';
import type { TestNode } from './nodes.ts';

export async function get({ base }: Pick<TestNode, 'base'>, target: string, key: string, signal?: AbortSignal) {
  const response = await fetch(base + target, { headers: { 'x-stack-key': key }, ...(signal ? { signal } : {}) });
  const body = await response.text();
  return { status: response.status, headers: response.headers, text: body };
}

/** Everything that a node's event stream sends from now on; `ended` resolves when the node has ended it, or has stopped. */
export async function follow({ base }: TestNode, key: string, lastEventId?: string) {
  const events: { readonly seq: number; readonly type: string; readonly body: string }[] = [];
  const onEvent = ({ id, event, data }: StreamEvent) => void events.push({ seq: Number(id), type: event, body: data });
  const stream = await openStream(`${base}/stack/v1/stream`, { key, lastEventId, onEvent });
  return { events, ended: stream.ended, [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose]() };
}

const VARYING: ReadonlySet<string> = new Set([
  ...['provenance', 'computed_at', 'uptime_seconds', 'started_at', 'duration_ms', 'request_id'],
]);

/** The content of an answer, without what differs from answer to answer: the receipt, times of the process. */
export function contentOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(contentOf);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !VARYING.has(name));
  return Object.fromEntries(kept.map(([name, each]) => [name, contentOf(each)]));
}
