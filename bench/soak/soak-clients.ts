// The people of the soak: they ask at a modest rate, poll the stream, and subscribe to it and go away again.
import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../measure.ts';
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
  /** Since the last call. */
  take(): { readonly requests: number; readonly p99Ms: number };
  readonly totals: { requests: number; freeKeys: number; polls: number; streams: number; unexpected: string[] };
  /** Ids of events in the order in which each node's permanent subscriber had them. */
  readonly received: readonly string[][];
  /** All of them; resolves after the signal aborts. */
  readonly done: Promise<unknown>;
}

export function startSoakClients(options: SoakClientsOptions): SoakClients {
  const { bases, key, signal } = options;
  const totals: SoakClients['totals'] = { requests: 0, freeKeys: 0, polls: 0, streams: 0, unexpected: [] };
  const received: string[][] = bases.map(() => []);
  const asked = questions(options);
  let times: number[] = [];
  let turn = 0;
  let freeKey = key;

  const ask = async ({ method, path, key: kind, expected }: Question) => {
    const headers: Record<string, string> =
      kind === 'none' ? {} : { 'x-stack-key': { unlimited: key, free: freeKey, wrong: `ssk_${'A'.repeat(43)}` }[kind] };
    const base = bases[turn++ % bases.length] ?? '';
    const startedAt = performance.now();
    const response = await fetch(base + path, { method, headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const text = await response.text();
    times.push(performance.now() - startedAt);
    totals.requests += 1;
    if (path === '/keys' && response.status === 201) {
      freeKey = (JSON.parse(text) as { key: string }).key;
      totals.freeKeys += 1;
    }
    if (!expected.includes(response.status)) totals.unexpected.push(`${response.status} ${method} ${path}`);
  };
  /** Failures during the bench are reported at its end. */
  const again = async (what: string, act: () => Promise<void>, pauseMs: () => number) => {
    while (!signal.aborted) {
      await act().catch((error: unknown) => {
        if (!signal.aborted) totals.unexpected.push(`${what}: ${String(error)}`);
      });
      await delay(pauseMs(), undefined, { signal }).catch(() => {});
    }
  };

  const listen = async (base: string, leaving: AbortSignal, onId: (id: string) => void) => {
    const response = await fetch(`${base}/stack/v1/stream`, { headers: { 'x-stack-key': key }, signal: leaving });
    totals.streams += 1;
    let rest = '';
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      const blocks = (rest + Buffer.from(chunk).toString()).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) if (/^event: /m.test(block)) onId(/^id: (\d+)$/m.exec(block)?.[1] ?? block);
    }
  };
  const guest = async (i: number) => {
    const stay = AbortSignal.timeout(Math.ceil(Math.random() * LONGEST_STAY_MS));
    const leaving = AbortSignal.any([signal, stay]);
    await listen(bases[i % bases.length] ?? '', leaving, () => {}).catch((error: unknown) => {
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
      totals.polls += 1;
    };
  };
  const done = Promise.all([
    ...Array.from({ length: ASKERS }, () =>
      again(
        'ask',
        () => ask(asked.next().value),
        () => PAUSE_MS,
      ),
    ),
    ...bases.map((base) => again('poll', poller(base), () => POLL_MS)),
    ...Array.from({ length: GUESTS }, (_, i) =>
      again(
        'guest',
        () => guest(i),
        () => Math.random() * PAUSE_MS,
      ),
    ),
    ...bases.map((base, i) =>
      again(
        'subscriber',
        () => listen(base, signal, (id) => received[i]?.push(id)),
        () => PAUSE_MS,
      ),
    ),
  ]);
  return {
    totals,
    received,
    done,
    take() {
      const taken = { requests: times.length, p99Ms: quantile(times, 0.99) };
      times = [];
      return taken;
    },
  };
}
