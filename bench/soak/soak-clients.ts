// The people of the soak: they ask at a modest rate, poll the stream, and subscribe to it and go away again.
import { setTimeout as delay } from 'node:timers/promises';

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

interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** `free`: a key that was given out moments ago; `wrong`: one that never was. */
  readonly key: 'unlimited' | 'free' | 'wrong' | 'none';
  readonly expected: readonly number[];
}

/** One request in so many is each of `RARELY`; the rest are about a company. */
const RARELY_OF = 3;
/** Companies that are asked about: so few that answers about all of them are held ready before the first quarter is over. */
const POPULAR = 80;

const ASKED = (path: string): Question => ({ method: 'GET', path, key: 'unlimited', expected: [200] });
/** A company may be unscanned, not exist, or have servers that never answer. */
const ABOUT = (path: string): Question => ({ ...ASKED(path), expected: [200, 404, 503] });

const RARELY: readonly Question[] = [
  ...[
    '/stack/v1/search?q=a&limit=20',
    '/stack/v1/search?provider=cloudflare',
    '/stack/v1/search?category=email&confidence=high&state=active',
    '/stack/v1/stats',
    '/stack/v1/stats/providers',
    '/stack/v1/stats/migrations?limit=200',
    '/stack/v1/alerts?limit=100',
    '/stack/v1/anomalies?limit=100',
    '/stack/v1/intelligence/security-scorecard',
    '/stack/v1/intelligence/market-share',
    '/stack/v1/intelligence/market-share?category=dns&include_parked=true',
    '/stack/v1/intelligence/supply-chain/cloudflare',
    '/stack/v1/intelligence/adoption/google-workspace',
    '/stack/v1/enrichment/status',
    '/stack/v1/enrichment/advisories?limit=100',
    '/stack/v1/enrichment/affected?limit=100',
    '/stack/v1/feeds/stats',
    '/stack/v1/feeds/leaderboard?limit=50',
    '/stack/v1/security/export.csv',
    '/stack/v1/migrations/export.csv',
    '/stack/v1/providers/cloudflare/domains.csv',
    '/stack/v1/providers/google-workspace/customers.csv',
    '/stack/v1/providers/cloudflare',
    '/stack/v1/providers/cloudflare/customers',
    '/stack/v1/stream/json?limit=100',
  ].map(ASKED),
  ...['/health', '/openapi.json', '/', '/site.json', '/suggest?q=go'].map((path) => ({
    ...ASKED(path),
    key: 'none' as const,
    // Suggestions are limited for an address, which all who ask here share.
    expected: [200, 429],
  })),
  { method: 'GET', path: '/ledger/checkpoint', key: 'none', expected: [200, 404] },
  { method: 'POST', path: '/keys', key: 'none', expected: [201] },
  { ...ASKED('/stack/v1/domains/unknown.invalid'), expected: [400, 404] },
  { ...ASKED('/stack/v1/nowhere'), expected: [404] },
  { ...ASKED('/stack/v1/search?limit=none'), expected: [400] },
  { ...ASKED('/stack/v1/stats'), key: 'wrong', expected: [401, 429] },
];

interface QuestionsOptions {
  /** Companies that are scanned anyway. */
  readonly followed: readonly string[];
  /** Unknown companies: a request scans them. */
  readonly unheard: readonly string[];
}

/** One question after another, without end. */
function* questions({ followed, unheard }: QuestionsOptions): Generator<Question, never> {
  const pick = (names: readonly string[]) => names[Math.floor(Math.random() * names.length)] ?? '';
  const popular = followed.slice(0, POPULAR);
  for (let i = 0; ; i += 1) {
    if (i % RARELY_OF === 0) {
      yield RARELY[(i / RARELY_OF) % RARELY.length] as Question;
      continue;
    }
    const domain = pick(popular);
    switch (i % 9) {
      case 1:
        yield ABOUT(`/stack/v1/domains/${domain}/changes`);
        break;
      case 2:
        yield ABOUT(`/stack/v1/intelligence/risk/${domain}`);
        break;
      case 4:
        yield ABOUT(`/stack/v1/feeds/domain/${domain}`);
        break;
      case 5:
        yield { ...ABOUT(`/stack/v1/domains/${domain}`), key: 'free', expected: [200, 404, 429, 503] };
        break;
      case 7:
        yield { ...ABOUT(`/stack/v1/domains/${pick(unheard)}`), expected: [200, 404, 429, 503] };
        break;
      default:
        yield ABOUT(`/stack/v1/domains/${domain}`);
    }
  }
}
