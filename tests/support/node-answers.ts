// What nodes answer and what their stores have told, for tests of several nodes.
import assert from 'node:assert/strict';
import type { Store } from '@strata/store';
import type { TestNode } from './nodes.ts';

export async function get({ base }: Pick<TestNode, 'base'>, target: string, key: string, signal?: AbortSignal) {
  const response = await fetch(base + target, { headers: { 'x-stack-key': key }, ...(signal ? { signal } : {}) });
  const body = await response.text();
  return { status: response.status, headers: response.headers, text: body };
}

/** Everything that a node's event stream sends from now on. */
export async function follow(node: TestNode, key: string, lastEventId?: string) {
  const stopping = new AbortController();
  const headers = { 'x-stack-key': key, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const response = await fetch(`${node.base}/stack/v1/stream`, { headers, signal: stopping.signal });
  assert.equal(response.status, 200);
  const events: { readonly seq: number; readonly type: string; readonly body: string }[] = [];
  let rest = '';
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
        const body = field('data');
        if (body !== undefined) events.push({ seq: Number(field('id')), type: field('event') ?? '', body });
      }
    }
  })().catch(() => {});
  return {
    events,
    /** The node has ended it, or is gone. */
    ended: reading,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await reading;
    },
  };
}

/** The ids of the stream's events of all confirmed changes, in their order. */
export async function changesIn(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let last = 0; ; ) {
    const page = await store.eventsSince(last, 1_000);
    for (const { seq, kind } of page) if (kind === 'change-confirmed') ids.push(`ev_${String(seq).padStart(10, '0')}`);
    if (page.length === 0) return ids;
    last = page.at(-1)?.seq ?? last;
  }
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
