// The people of the soak: they ask at a modest rate, poll the stream, and subscribe to it and go away again.
import { setTimeout as delay } from 'node:timers/promises';
import { type Question, questions } from './soak-questions.ts';

export interface SoakClientsOptions {
  /** Of the nodes; each question goes to the next one. */
  readonly bases: readonly string[];
  readonly key: string;
  readonly followed: readonly string[];
  readonly unheard: readonly string[];
  readonly signal: AbortSignal;
}

/** Who asks at once, and the pause after each answer. */
const ASKERS = 6;
const PAUSE_MS = 100;
const GUESTS = 24;
const LONGEST_STAY_MS = 30_000;
const POLL_MS = 1_000;
const TIMEOUT_MS = 120_000;

export interface SoakClients {
  readonly requests: () => number;
  /** Failures, and answers that were none of those expected. */
  readonly unexpected: readonly string[];
  /** Ids of events in the order in which each node's permanent subscriber had them. */
  readonly received: readonly string[][];
  /** All of them; resolves after the signal aborts. */
  readonly done: Promise<unknown>;
}

export function startSoakClients(options: SoakClientsOptions): SoakClients {
  const { bases, key, signal } = options;
  const unexpected: string[] = [];
  const received: string[][] = bases.map(() => []);
  const asked = questions(options);
  let requests = 0;
  let freeKey = key;

  const ask = async () => {
    const { method, path, key: kind, expected }: Question = asked.next().value;
    const headers: Record<string, string> =
      kind === 'none' ? {} : { 'x-stack-key': { unlimited: key, free: freeKey, wrong: `ssk_${'A'.repeat(43)}` }[kind] };
    const base = bases[requests++ % bases.length] ?? '';
    const response = await fetch(base + path, { method, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    if (path === '/keys' && response.status === 201) freeKey = (JSON.parse(text) as { key: string }).key;
    if (!expected.includes(response.status)) unexpected.push(`${response.status} ${method} ${path}`);
  };
  const listen = async (base: string, leaving: AbortSignal, onId: (id: string) => void) => {
    const response = await fetch(`${base}/stack/v1/stream`, { headers: { 'x-stack-key': key }, signal: leaving });
    let rest = '';
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      const blocks = (rest + Buffer.from(chunk).toString()).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) if (/^event: /m.test(block)) onId(/^id: (\d+)$/m.exec(block)?.[1] ?? block);
    }
  };
  const visit = async (base: string) => {
    const stay = AbortSignal.timeout(Math.ceil(Math.random() * LONGEST_STAY_MS));
    const leaving = AbortSignal.any([signal, stay]);
    await listen(base, leaving, () => {}).catch((error: unknown) => {
      if (!leaving.aborted) throw error;
    });
  };
  /** Each reconnects after its last event id, as the interface requires. */
  const poller = (base: string) => {
    let since: string | undefined;
    return async () => {
      const query = since === undefined ? '' : `?since=${encodeURIComponent(since)}`;
      const response = await fetch(`${base}/stack/v1/stream/json${query}`, { headers: { 'x-stack-key': key } });
      since = ((await response.json()) as { next_since: string }).next_since;
    };
  };
  const again = async (what: string, pauseMs: number, act: () => Promise<void>) => {
    while (!signal.aborted) {
      await act().catch((error: unknown) => {
        if (!signal.aborted) unexpected.push(`${what}: ${String(error)}`);
      });
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  };
  const done = Promise.all([
    ...Array.from({ length: ASKERS }, () => again('ask', PAUSE_MS, ask)),
    ...Array.from({ length: GUESTS }, (_, i) => again('guest', PAUSE_MS, () => visit(bases[i % bases.length] ?? ''))),
    ...bases.map((base) => again('poll', POLL_MS, poller(base))),
    ...bases.map((base, i) => again('subscriber', PAUSE_MS, () => listen(base, signal, (id) => received[i]?.push(id)))),
  ]);
  return { requests: () => requests, unexpected, received, done };
}
