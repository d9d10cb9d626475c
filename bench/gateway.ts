// The gateway: what it adds to an engine that answers at once, beside the least that any proxy does; and what it leaves of a real one.
import { once } from 'node:events';
import { startLlamaEngine } from '@strata/engine';
import { GREEDY } from '@strata/inference';
import { tinyChatModel } from '@strata/testnet';
import autocannon from 'autocannon';
import type { Figure } from './main.ts';
import { type Child, median, perSecond, quantile, startChild } from './measure.ts';

interface GatewayProcess {
  readonly base: string;
  readonly key: string;
  readonly model: string;
  readonly rss: number;
}

const SECONDS = 4;
const CONNECTIONS = 64;
const ALONE = 500;
const OPEN = 1_000;
const STREAMS = [1, 4, 8];
const TOKENS = 128;
const ROUNDS = 5;

export async function benchGateway(): Promise<Figure[]> {
  return [...(await overhead()), ...(await keptOfTheEngine())];
}

const question = (model: string, more: object = {}) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'What is DMARC?' }], ...more });

async function overhead(): Promise<Figure[]> {
  await using gateway = await startChild<GatewayProcess>('./gateway-process.ts', { slots: 1, isInstant: true });
  await using proxy = await startChild<{ base: string }>('./bare-proxy-process.ts');
  const { base, key, model } = gateway.ready;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = { path: '/v1/chat/completions', headers, body: question(model) };
  const ours = [];
  const theirs = [];
  for (let round = 0; round < 3; round += 1) {
    theirs.push(await rate(proxy.ready.base, ask));
    ours.push(await rate(base, ask));
  }
  const [proxyAlone, oursAlone] = [await alone(proxy.ready.base, ask), await alone(base, ask)];
  const streams = await openStreams(gateway, headers);
  return [
    {
      what: `completions of an instant engine, ${CONNECTIONS} connections`,
      value: perSecond(median(ours)),
      against: `bare proxy with an instant upstream ${perSecond(median(theirs))}: ${(median(ours) / median(theirs)).toFixed(2)} ×, goal 0.6`,
    },
    {
      what: 'one at a time: p50, p99',
      value: `${quantile(oursAlone, 0.5).toFixed(2)} ms, ${quantile(oursAlone, 0.99).toFixed(2)} ms`,
      against: `bare proxy ${quantile(proxyAlone, 0.5).toFixed(2)} ms, ${quantile(proxyAlone, 0.99).toFixed(2)} ms; goal: median < 0.6 ms`,
    },
    ...streams,
  ];
}

interface Ask {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function rate(base: string, { path, headers, body }: Ask): Promise<number> {
  const result = await autocannon({
    url: base + path,
    method: 'POST',
    headers,
    body,
    connections: CONNECTIONS,
    duration: SECONDS,
  });
  if (result.non2xx > 0) throw new Error(`${result.non2xx} were refused`);
  return result.requests.average;
}

async function alone(base: string, { path, headers, body }: Ask): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < ALONE; i += 1) {
    const startedAt = performance.now();
    await (await fetch(base + path, { method: 'POST', headers, body })).arrayBuffer();
    if (i >= ALONE / 5) times.push(performance.now() - startedAt);
  }
  return times;
}

async function openStreams(
  gateway: Child<GatewayProcess>,
  headers: Readonly<Record<string, string>>,
): Promise<Figure[]> {
  const { base, model } = gateway.ready;
  const rss = async () => {
    const told = once(gateway.process, 'message');
    gateway.process.send('rss');
    return ((await told)[0] as { rss: number }).rss;
  };
  const before = await rss();
  const leaving = new AbortController();
  const body = question(model, { stream: true, max_tokens: 1 });
  const startedAt = performance.now();
  const readers = await Promise.all(
    Array.from({ length: OPEN }, async () => {
      const response = await fetch(`${base}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body,
        signal: leaving.signal,
      });
      const reader = response.body?.getReader();
      await reader?.read();
      return reader;
    }),
  );
  const ms = performance.now() - startedAt;
  const kib = ((await rss()) - before) / 1_024 / OPEN;
  leaving.abort();
  await Promise.allSettled(readers.map((reader) => reader?.closed));
  return [
    {
      what: `${OPEN} streams open at once`,
      value: `${ms.toFixed(0)} ms until each had its first chunk, ${kib.toFixed(0)} KiB RSS each`,
      against: '',
    },
  ];
}

/** Tokens a second of the demo's model, asked by itself and through the gateway, so many streams at once. */
async function keptOfTheEngine(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const streams of STREAMS) {
    await using engine = await startLlamaEngine({ file: tinyChatModel, slots: streams, threads: 1, gpu: false });
    await using gateway = await startChild<GatewayProcess>('./gateway-process.ts', {
      slots: streams,
      isInstant: false,
    });
    const prompt = await engine.render({ messages: [{ role: 'user', content: 'What is DMARC?' }], tools: [] });
    const sampling = { ...GREEDY, logitBias: new Map([[1_023, -100]]) };
    const direct: number[] = [];
    const through: number[] = [];
    const firsts: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      direct.push(
        await tokensASecond(streams, async () => {
          let count = 0;
          const job = { prompt, given: [], replay: 'exact', maxTokens: TOKENS, sampling } as const;
          for await (const event of engine.generate(job, new AbortController().signal))
            if (event.kind === 'token') count += 1;
          return count;
        }),
      );
      through.push(await tokensASecond(streams, () => streamed(gateway.ready, firsts)));
    }
    figures.push({
      what: `tokens a second through the gateway, ${streams} ${streams === 1 ? 'stream' : 'streams'}`,
      value: `${perSecond(median(through))}, first token after ${median(firsts).toFixed(1)} ms`,
      against: `engine alone ${perSecond(median(direct))}: ${(median(through) / median(direct)).toFixed(2)} ×, goal 0.97`,
    });
  }
  return figures;
}

async function tokensASecond(streams: number, run: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  const counts = await Promise.all(Array.from({ length: streams }, run));
  return (counts.reduce((sum, count) => sum + count, 0) * 1_000) / (performance.now() - startedAt);
}

async function streamed({ base, key, model }: GatewayProcess, firsts: number[]): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: question(model, {
      stream: true,
      temperature: 0,
      max_tokens: TOKENS,
      logit_bias: { 1023: -100 },
      stream_options: { include_usage: true },
    }),
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    if (text === '') firsts.push(performance.now() - startedAt);
    text += decoder.decode(chunk, { stream: true });
  }
  return Number(/"completion_tokens":(\d+)/.exec(text)?.[1]);
}
