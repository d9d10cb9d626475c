// The gateway: what it adds to an engine that answers at once, beside the least that any proxy does; and what it leaves of a real one.
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLlamaEngine } from '@strata/engine';
import { GREEDY } from '@strata/inference';
import { type RandomModelOptions, randomModel, tinyChatModel } from '@strata/testnet';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { httpLoad } from '../http-load.ts';
import {
  type Child,
  type Figure,
  median,
  perSecond,
  setting,
  startChild,
  thousands,
  timed,
  timesOf,
  useOf,
} from '../measure.ts';
import type { GatewayOptions, ReadyGateway } from './gateway-process.ts';
import { startPortkey } from './portkey.ts';

const SECONDS = setting('SECONDS', 4);
/** V8 compiles most of the gateway's code within its first 40,000 answers. */
const WARM_SECONDS = SECONDS * 4;
const CONNECTIONS = 64;
const LOAD_ROUNDS = 3;
const ALONE = 500;
const SETTLE_MS = 2_000;
const OPEN = setting('SUBSCRIBERS', 1_000);
const STREAMS = [1, 4, 8];
const TOKENS = 128;
const ROUNDS = 5;
const INPUTS = 128;
const INPUT_TOKENS = 128;
/** Weights from a seed: what they say is noise, what they cost is real. */
const MIDDLE: RandomModelOptions = {
  ...{ seed: 1, name: 'middle', layers: 8, width: 512, heads: 8, hidden: 1_408, context: 1_024, weights: 'Q8_0' },
};
const MESSAGES = [{ role: 'user', content: 'What is DMARC?' } as const];

export async function benchGateway(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const middle = `${directory.path}/middle.gguf`;
  await writeFile(middle, randomModel(MIDDLE));
  return [
    ...(await overhead()),
    await keptOf('2.4 M model', tinyChatModel),
    await keptOf('29 M model Q8_0', middle),
    await embeddingsOf('2.4 M model', tinyChatModel),
    await embeddingsOf('29 M model Q8_0', middle),
  ];
}

const startGateway = (options: GatewayOptions) =>
  startChild<ReadyGateway>(new URL('./gateway-process.ts', import.meta.url), options);

interface Ask {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request of a gateway's own API. */
const askOf = ({ key, model }: ReadyGateway, more: object = {}): Ask => ({
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model, messages: MESSAGES, ...more }),
});

/** One proxy to compare, and how it is asked. */
interface Proxy {
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function overhead(): Promise<Figure[]> {
  const proxyProcess = new URL('./bare-proxy-process.ts', import.meta.url);
  await using bare = await startChild<{ base: string; upstream: string }>(proxyProcess);
  const { upstream } = bare.ready;
  await using gateway = await startGateway({ slots: CONNECTIONS, upstream });
  await using portkey = await startPortkey(upstream);
  await using minimal = await startChild<{ base: string }>(new URL('./minimal-gateway-process.ts', import.meta.url), {
    upstream,
  });
  const { key, model, base } = gateway.ready;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const all: readonly Proxy[] = [
    { base, headers },
    { base: bare.ready.base, headers },
    ...(portkey ? [{ base: portkey.base, headers: { ...headers, ...portkey.headers } }] : []),
  ];
  const figures: Figure[] = [];
  for (const stream of [false, true]) {
    const body = JSON.stringify({ model, messages: MESSAGES, stream });
    const name = stream ? 'streamed' : 'complete answers';
    // Streams of Portkey 1.15.2 from a custom host fail on current versions of Node.
    const works = await Promise.all(all.map(async (each) => (await answer(each.base, { ...each, body })).ok));
    const proxies = all.filter((_, i) => works[i]);
    for (const each of proxies) await rate(each.base, { headers: each.headers, body }, WARM_SECONDS);
    // One after the other, so that a change of the machine's speed changes all.
    const rounds: number[][] = [];
    for (let round = 0; round < LOAD_ROUNDS; round += 1) {
      const rates = [];
      for (const each of proxies) rates.push(await rate(each.base, { headers: each.headers, body }));
      rounds.push(rates);
    }
    const [ours = 0, bareRate = 0, portkeys] = proxies.map((_, i) => median(rounds.map((rates) => rates[i] ?? 0)));
    // Receipts of the last load are still being written to the ledger.
    await sleep(SETTLE_MS);
    const times: number[] = [];
    for (const each of [{ base: upstream, headers }, ...proxies])
      times.push(await alone(each.base, { headers: each.headers, body }));
    const [direct = 0, ...through] = times;
    const [byUs, byBare, byPortkey] = through.map((ms) => `${(ms - direct).toFixed(2)} ms`);
    const than = portkeys
      ? `Portkey ${perSecond(portkeys)}: ${(ours / portkeys).toFixed(1)} ×, goal 2 ×`
      : portkey
        ? 'Portkey’s streams fail'
        : 'Portkey could not be installed';
    figures.push(
      [
        `upstream, ${name}, ${CONNECTIONS} connections`,
        perSecond(ours),
        `bare proxy ${perSecond(bareRate)}: ${(ours / bareRate).toFixed(2)}, goal 0.6; ${than}`,
      ],
      [
        `upstream, ${name}, one at a time, added`,
        byUs ?? '',
        `goal < 0.6 ms; bare proxy ${byBare}${byPortkey ? `, Portkey ${byPortkey}` : ''}`,
      ],
    );
  }
  const body = JSON.stringify({ model, messages: MESSAGES });
  const ofBoth: number[][] = [];
  for (const duration of [WARM_SECONDS, ...Array.from({ length: LOAD_ROUNDS }, () => SECONDS)]) {
    const rates = [];
    for (const each of [minimal.ready.base, bare.ready.base]) rates.push(await rate(each, { headers, body }, duration));
    ofBoth.push(rates);
  }
  const [minimalRate = 0, bareRate = 0] = [0, 1].map((at) => median(ofBoth.slice(1).map((rates) => rates[at] ?? 0)));
  figures.push([
    'the minimum that keeps the promises: complete answers',
    perSecond(minimalRate),
    `bare proxy ${perSecond(bareRate)}: ${(minimalRate / bareRate).toFixed(2)}`,
  ]);
  await using instant = await startGateway({ slots: 1 });
  // The memory of a new process grows for other reasons.
  await rate(instant.ready.base, askOf(instant.ready));
  await sleep(SETTLE_MS);
  return [...figures, await openStreams(instant)];
}
const PATH = '/v1/chat/completions';

async function rate(base: string, ask: Ask, duration = SECONDS): Promise<number> {
  const load = { url: base + PATH, method: 'POST', ...ask, connections: CONNECTIONS, duration } as const;
  return (await httpLoad(load)).rate;
}

const answer = (base: string, { headers, body }: Ask) => fetch(base + PATH, { method: 'POST', headers, body });

/** Milliseconds of an answer, in the median. */
async function alone(base: string, ask: Ask): Promise<number> {
  const times = await timesOf(ALONE, async () => (await answer(base, ask)).arrayBuffer());
  return median(times.slice(ALONE / 5));
}

async function openStreams(gateway: Child<ReadyGateway>): Promise<Figure> {
  const before = (await useOf(gateway)).rss;
  const leaving = new AbortController();
  const request = { method: 'POST', ...askOf(gateway.ready, { stream: true, max_tokens: 1 }), signal: leaving.signal };
  const open = async () => {
    const reader = (await fetch(gateway.ready.base + PATH, request)).body?.getReader();
    await reader?.read();
    return reader;
  };
  const { value: readers, seconds } = await timed(() => Promise.all(Array.from({ length: OPEN }, open)));
  const kib = ((await useOf(gateway)).rss - before) / 1_024 / OPEN;
  leaving.abort();
  await Promise.allSettled(readers.map((reader) => reader?.closed));
  const chunks = `${(seconds * 1_000).toFixed(0)} ms until each had a chunk`;
  return [`${thousands(OPEN)} streams`, `${chunks}, ${kib.toFixed(0)} KiB RSS each`];
}

/** Tokens a second of a model, asked by itself and through the gateway, so many streams at once. */
async function keptOf(name: string, file: string): Promise<Figure> {
  const figures: { readonly through: number; readonly kept: number }[] = [];
  for (const slots of STREAMS) {
    await using gateway = await startGateway({ slots, model: file });
    const { processes } = gateway.ready;
    await using engine = await startLlamaEngine({ file, slots, processes, threads: 1, gpu: false });
    const prompt = await engine.render({ messages: MESSAGES, tools: [] });
    const end = engine.info.vocabularySize - 1;
    const sampling = { ...GREEDY, logitBias: new Map([[end, -100]]) };
    const job = { prompt, given: [], replay: 'exact', maxTokens: TOKENS, sampling } as const;
    const generate = async () => {
      let count = 0;
      for await (const { kind } of engine.generate(job, new AbortController().signal)) if (kind === 'token') count += 1;
      return count;
    };
    const more = { stream: true, temperature: 0, max_tokens: TOKENS, logit_bias: { [end]: -100 } };
    const ask = askOf(gateway.ready, { ...more, stream_options: { include_usage: true } });
    const direct: number[] = [];
    const through: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      direct.push(await tokensASecond(slots, generate));
      through.push(await tokensASecond(slots, () => countTokens(gateway.ready.base, ask)));
    }
    figures.push({ through: median(through), kept: median(through) / median(direct) });
  }
  const kept = figures.map((each) => each.kept.toFixed(2)).join('; ');
  return [
    `${name}, ${STREAMS.join('; ')} streams`,
    `${figures.map((each) => thousands(each.through)).join('; ')} tokens/s`,
    `${kept} of the engine alone, goal 0.97`,
  ];
}

async function tokensASecond(streams: number, run: () => Promise<number>): Promise<number> {
  const { value: counts, seconds } = await timed(() => Promise.all(Array.from({ length: streams }, run)));
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

/** Reads a stream to its end; returns the number of tokens in its usage. */
async function countTokens(base: string, ask: Ask): Promise<number> {
  const text = await (await fetch(base + PATH, { method: 'POST', ...ask })).text();
  return Number(/"completion_tokens":(\d+)/.exec(text)?.[1]);
}

/** Tokens a second of embeddings, beside prompts that the engine alone reads: the same arithmetic. */
async function embeddingsOf(name: string, file: string): Promise<Figure> {
  const slots = 4;
  await using gateway = await startGateway({ slots, model: file });
  const { processes, base } = gateway.ready;
  await using engine = await startLlamaEngine({ file, slots, processes, threads: 1, gpu: false });
  const input = Array.from({ length: INPUTS }, (_, i) =>
    Array.from({ length: INPUT_TOKENS }, (_, at) => (at * 7 + i * 31 + 1) % 256),
  );
  const { headers, body } = askOf(gateway.ready, { input, encoding_format: 'base64' });
  const embed = async () => {
    const { usage } = (await (await fetch(`${base}/v1/embeddings`, { method: 'POST', headers, body })).json()) as Usage;
    return usage.total_tokens;
  };
  const read = async (prompts: Iterable<number[]>) => {
    let count = 0;
    for (const prompt of prompts) {
      const job = { prompt, given: [], replay: 'fast', maxTokens: 1, sampling: GREEDY } as const;
      for await (const _ of engine.generate(job, new AbortController().signal));
      count += prompt.length;
    }
    return count;
  };
  const [embedded, prompts]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    embedded.push(await tokensASecond(1, embed));
    const next = input.map((tokens) => tokens.map((token) => (token + round + 1) % 256)).values();
    prompts.push(await tokensASecond(slots, () => read(next)));
  }
  return [
    `${name}, embeddings of ${INPUTS} inputs of ${INPUT_TOKENS} tokens`,
    `${thousands(median(embedded))} tokens/s`,
    `prompts of the engine alone ${thousands(median(prompts))}`,
  ];
}

interface Usage {
  readonly usage: { readonly total_tokens: number };
}
