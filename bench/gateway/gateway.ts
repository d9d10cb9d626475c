// The gateway: what it adds to an engine that answers at once, beside the least that any proxy does; and what it leaves of a real one.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLlamaEngine } from '@strata/engine';
import { GREEDY } from '@strata/inference';
import { type RandomModelOptions, randomModel, tinyChatModel } from '@strata/testnet';
import autocannon from 'autocannon';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { type Child, type Figure, median, perSecond, quantile, startChild, timesOf, useOf } from '../measure.ts';
import { startPortkey } from './portkey.ts';

interface GatewayProcess {
  readonly base: string;
  readonly key: string;
  readonly model: string;
  readonly rss: number;
  readonly processes: number;
}

const SECONDS = 4;
const CONNECTIONS = 64;
const ALONE = 500;
const SETTLE_MS = 2_000;
const OPEN = 1_000;
const STREAMS = [1, 4, 8];
const TOKENS = 128;
const ROUNDS = 5;
/** Weights from a seed: what they say is noise, what they cost is real. */
const MIDDLE: RandomModelOptions = {
  ...{ seed: 1, name: 'middle', layers: 8, width: 512, heads: 8, hidden: 1_408, context: 1_024, weights: 'Q8_0' },
};

export async function benchGateway(): Promise<Figure[]> {
  return [...(await overhead()), ...(await keptOfTheEngine())];
}

const question = (model: string, more: object = {}) =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'What is DMARC?' }], ...more });

async function overhead(): Promise<Figure[]> {
  await using gateway = await startChild<GatewayProcess>(new URL('./gateway-process.ts', import.meta.url), {
    slots: 1,
    isInstant: true,
  });
  await using proxy = await startChild<{ base: string; upstream: string }>(
    new URL('./bare-proxy-process.ts', import.meta.url),
  );
  await using portkey = await startPortkey(proxy.ready.upstream);
  const { base, key, model } = gateway.ready;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = { path: '/v1/chat/completions', headers, body: question(model) };
  const askPortkey = { ...ask, headers: { ...headers, ...portkey?.headers } };
  const ours = [];
  const theirs = [];
  const portkeys = [];
  for (let round = 0; round < 3; round += 1) {
    theirs.push(await rate(proxy.ready.base, ask));
    ours.push(await rate(base, ask));
    if (portkey) portkeys.push(await rate(portkey.base, askPortkey));
  }
  // Receipts of the last load are still being written to the ledger.
  await sleep(SETTLE_MS);
  // Sequentially, each beside the upstream alone, which is the reference of the overhead.
  const upstreamAlone = median(await alone(proxy.ready.upstream, ask));
  const [proxyAlone, oursAlone] = [await alone(proxy.ready.base, ask), await alone(base, ask)];
  const portkeyAlone = portkey ? median(await alone(portkey.base, askPortkey)) : undefined;
  const streams = await openStreams(gateway, headers);
  const overheadOf = (ms: number) => `+ ${(ms - upstreamAlone).toFixed(2)} ms`;
  return [
    {
      what: `completions of an instant engine, ${CONNECTIONS} connections`,
      value: perSecond(median(ours)),
      against:
        `bare proxy with an instant upstream ${perSecond(median(theirs))}: ${(median(ours) / median(theirs)).toFixed(2)} ×, goal 0.6` +
        (portkey
          ? `; Portkey ${perSecond(median(portkeys))}: ${(median(ours) / median(portkeys)).toFixed(1)} ×, goal 8`
          : '; Portkey could not be installed'),
    },
    {
      what: 'one at a time, overhead over an instant upstream asked directly',
      value: `${overheadOf(median(oursAlone))} (p50 ${median(oursAlone).toFixed(2)} ms, p99 ${quantile(oursAlone, 0.99).toFixed(2)} ms)`,
      against:
        `bare proxy ${overheadOf(median(proxyAlone))}` +
        (portkeyAlone === undefined ? '' : `, Portkey ${overheadOf(portkeyAlone)}`) +
        `; upstream alone ${upstreamAlone.toFixed(2)} ms; goal: median < 0.6 ms`,
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
  const ask = async () => (await fetch(base + path, { method: 'POST', headers, body })).arrayBuffer();
  return (await timesOf(ALONE, ask)).slice(ALONE / 5);
}

async function openStreams(
  gateway: Child<GatewayProcess>,
  headers: Readonly<Record<string, string>>,
): Promise<Figure[]> {
  const { base, model } = gateway.ready;
  const before = (await useOf(gateway)).rss;
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
  const kib = ((await useOf(gateway)).rss - before) / 1_024 / OPEN;
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

/** Tokens a second of two models, asked by themselves and through the gateway, so many streams at once. */
async function keptOfTheEngine(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const middle = path.join(directory.path, 'middle.gguf');
  await writeFile(middle, randomModel(MIDDLE));
  return [
    ...(await keptOf('demo model, 2.4 M parameters', tinyChatModel)),
    ...(await keptOf('29 M parameters, Q8_0', middle)),
  ];
}

async function keptOf(name: string, file: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const streams of STREAMS) {
    await using gateway = await startChild<GatewayProcess>(new URL('./gateway-process.ts', import.meta.url), {
      slots: streams,
      model: file,
    });
    const { processes } = gateway.ready;
    await using bare = await startChild<{ base: string }>(new URL('./bare-stream-process.ts', import.meta.url), {
      file,
      slots: streams,
      processes,
    });
    await using engine = await startLlamaEngine({ file, slots: streams, processes, threads: 1, gpu: false });
    const prompt = await engine.render({ messages: [{ role: 'user', content: 'What is DMARC?' }], tools: [] });
    const sampling = { ...GREEDY, logitBias: new Map([[engine.info.vocabularySize - 1, -100]]) };
    const direct: number[] = [];
    const through: number[] = [];
    const barely: number[] = [];
    const firsts: number[] = [];
    const costs: number[] = [];
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
      const end = engine.info.vocabularySize - 1;
      const plain = { base: bare.ready.base, body: JSON.stringify({ prompt, maxTokens: TOKENS, end }) };
      barely.push(await tokensASecond(streams, () => countTokens(plain, [])));
      // Engines are processes of their own.
      const before = (await useOf(gateway)).cpuSeconds;
      through.push(await tokensASecond(streams, () => streamed(gateway.ready, firsts, end)));
      costs.push((((await useOf(gateway)).cpuSeconds - before) * 1e6) / (streams * TOKENS));
    }
    figures.push({
      what: `${name}: tokens a second through the gateway, ${streams} ${streams === 1 ? 'stream' : 'streams'}, ${processes} ${processes === 1 ? 'process' : 'processes'}`,
      value: `${perSecond(median(through))}, first token after ${median(firsts).toFixed(1)} ms, ${median(costs).toFixed(0)} µs of the gateway's processor time a token`,
      against:
        `engine alone ${perSecond(median(direct))}: ${(median(through) / median(direct)).toFixed(2)} ×, goal 0.97; ` +
        `a bare server of that engine ${perSecond(median(barely))}: ${(median(through) / median(barely)).toFixed(2)} ×`,
    });
  }
  return figures;
}

async function tokensASecond(streams: number, run: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  const counts = await Promise.all(Array.from({ length: streams }, run));
  return (counts.reduce((sum, count) => sum + count, 0) * 1_000) / (performance.now() - startedAt);
}

function streamed({ base, key, model }: GatewayProcess, firsts: number[], end: number): Promise<number> {
  const more = {
    ...{ stream: true, temperature: 0, max_tokens: TOKENS, logit_bias: { [end]: -100 } },
    stream_options: { include_usage: true },
  };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return countTokens({ base: `${base}/v1/chat/completions`, headers, body: question(model, more) }, firsts);
}

/** Reads a stream to its end; returns the number of tokens in its usage. */
async function countTokens(
  { base, headers = {}, body }: { base: string; headers?: Readonly<Record<string, string>>; body: string },
  firsts: number[],
): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(base, { method: 'POST', headers, body });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    if (text === '') firsts.push(performance.now() - startedAt);
    text += decoder.decode(chunk, { stream: true });
  }
  return Number(/"completion_tokens":(\d+)/.exec(text)?.[1]);
}
