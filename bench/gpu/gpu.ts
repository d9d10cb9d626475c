// A GPU beside the processor of the same machine: answers, prompts and vectors over HTTP, memory, and whether an auditor on
// a processor finds the answers of a GPU honest. Needs `npm run engine:cuda` and a GPU with 30 GiB.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startLlamaEngine } from '@strata/engine';
import { TOLERATED_DEVIATION } from '@strata/inference';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import type { GatewayOptions, ReadyGateway } from '../gateway/gateway-process.ts';
import { type Figure, median, quantile, setting, startChild, thousands, timed } from '../measure.ts';
import { deviationsOf, type Variant } from '../trust/trust-variants.ts';
import { END_TOKEN, type LargeModel, writeLargeModel } from './large-model.ts';

const SMALL = { layers: setting('LAYERS', 32) / 2, width: setting('WIDTH', 4_096) / 2 };
const LARGE = { layers: SMALL.layers * 2, width: SMALL.width * 2 };
const MODELS: readonly LargeModel[] = [
  { ...SMALL, weights: 'F16' },
  { ...SMALL, weights: 'Q8_0', pooling: 'mean' },
  { ...LARGE, weights: 'Q8_0' },
];
const SLOTS = 32;
const INPUTS = 64;
const INPUT_TOKENS = 128;
const ANSWERS = 24;
const HONEST: readonly LargeModel['weights'][] = ['F16', 'Q8_0', 'Q4_0'];

type Device = 'GPU' | 'processor';

/** The processor answers a tenth in the same time. */
const LOADS = {
  GPU: { tokens: 128, streams: [1, 8, 32], promptTokens: 4_000 },
  processor: { tokens: 16, streams: [1, 8], promptTokens: 512 },
} as const;

export async function benchGpu(): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const figures: Figure[] = [];
  const write = (model: LargeModel) => writeLargeModel(directory.path, model);
  const files = await Promise.all(MODELS.map(write));
  for (const file of files)
    for (const device of ['GPU', 'processor'] as const) figures.push(...report(await speedOf(file, device)));
  for (const [flash, cache] of [
    ['auto', 'f16'],
    ['off', 'f16'],
    ['auto', 'q8_0'],
  ] as const)
    figures.push(...report([await attentionOf(files.at(-1) ?? '', { flash, cache })]));
  for (const weights of HONEST) figures.push(...report(await honestyOf(await write({ ...SMALL, weights }), weights)));
  return figures;
}

/** Printed at once: a run takes minutes. */
function report(figures: readonly Figure[]): readonly Figure[] {
  for (const figure of figures) process.stderr.write(`${figure.join(' | ')}\n`);
  return figures;
}

const startGateway = (options: GatewayOptions) =>
  startChild<ReadyGateway>(new URL('../gateway/gateway-process.ts', import.meta.url), options);

function settingsOf(file: string, device: Device, more = ''): GatewayOptions {
  const gpu = device === 'GPU' ? 'auto' : 'off';
  const settings = { STRATA_MODEL: file, STRATA_MODEL_OPTIONS: `gpu=${gpu},slots=${SLOTS}${more}` };
  return { slots: SLOTS, settings };
}

async function speedOf(file: string, device: Device): Promise<readonly Figure[]> {
  const { tokens, streams, promptTokens } = LOADS[device];
  const { value: gateway, seconds } = await timed(() => startGateway(settingsOf(file, device)));
  await using running = gateway;
  await streamOf(running.ready, { tokens: 4 });
  const rates: string[] = [];
  const firsts: string[] = [];
  for (const count of streams) {
    const { rate, firstMs } = await loadOf(running.ready, count, { tokens });
    rates.push(thousands(rate));
    firsts.push(firstMs.toFixed(0));
  }
  const prompt = await streamOf(running.ready, { tokens: 1, promptTokens });
  const name = `${await sizeText(file)}, ${device}`;
  return [
    [`${name}: tokens/s of ${streams.join('; ')} streams`, rates.join('; '), `first token ${firsts.join('; ')} ms`],
    [
      `${name}: prompt of ${thousands(promptTokens)}; embeddings of ${INPUTS} × ${INPUT_TOKENS}`,
      `${thousands((promptTokens * 1_000) / prompt.firstMs)}; ${thousands(await embeddingsOf(running.ready))} tokens/s`,
      `start ${seconds.toFixed(1)} s; ${await gpuMemory()}`,
    ],
  ];
}

/** Long prompts: their keys and values weigh. */
async function attentionOf(file: string, { flash, cache }: { flash: string; cache: string }): Promise<Figure> {
  const before = await usedMib();
  const attention = `,flash-attention=${flash},kv-cache=${cache}`;
  await using gateway = await startGateway(settingsOf(file, 'GPU', attention));
  await streamOf(gateway.ready, { tokens: 4 });
  const memory = (await usedMib()) - before;
  const { promptTokens, tokens } = LOADS.GPU;
  const rateOf = async (count: number) => {
    const wanted = { tokens, promptTokens, number: nextNumber() };
    await loadOf(gateway.ready, count, { ...wanted, tokens: 2 });
    return (await loadOf(gateway.ready, count, wanted)).rate;
  };
  const rate = await rateOf(1);
  const together = await rateOf(8);
  return [
    `${await sizeText(file)}, flash attention ${flash}, cache ${cache}: 1; 8 streams after ${thousands(promptTokens)} tokens`,
    `${thousands(rate)}; ${thousands(together)} tokens/s`,
    `${thousands(memory)} MiB of the GPU`,
  ];
}

/** Deviations that an auditor on the processor finds in honest answers of a GPU. */
async function honestyOf(file: string, weights: string): Promise<readonly Figure[]> {
  const options: Parameters<typeof startLlamaEngine>[0] = {
    file,
    slots: 8,
    threads: 8,
    contextLength: 1_024,
    gpu: false,
  };
  await using processor = await startLlamaEngine(options);
  await using gpu = await startLlamaEngine({ ...options, gpu: 'auto' });
  const attention = { flash: 'off', keys: 'f16', values: 'f16' } as const;
  await using plain = await startLlamaEngine({ ...options, gpu: 'auto', attention });
  await using small = await startLlamaEngine({
    ...{ ...options, gpu: 'auto', attention: { flash: 'auto', keys: 'q8_0', values: 'q8_0' } },
  });
  const figure = async (what: string, variant: Partial<Variant>): Promise<Figure> => {
    const all = await deviationsOf({ worker: gpu, verifier: processor, answers: ANSWERS, ...variant });
    const mean = all.reduce((sum, each) => sum + each, 0) / all.length;
    return [
      `${weights}, ${what}: mean deviation; p90; most`,
      [mean, quantile(all, 0.9), Math.max(...all)].map((each) => each.toExponential(1)).join('; '),
      `tolerated in the mean ${TOLERATED_DEVIATION}`,
    ];
  };
  return [
    await figure('GPU, scored on the processor', {}),
    await figure('8 at once on the GPU', { together: 8 }),
    await figure('GPU without flash attention', { worker: plain }),
    await figure('GPU with a q8_0 cache', { worker: small }),
    await figure('GPU, scored on the GPU', { verifier: gpu }),
    await figure('processor, scored on the GPU', { worker: processor, verifier: gpu }),
  ];
}

interface Wanted {
  readonly tokens: number;
  /** One letter is a token. */
  readonly promptTokens?: number;
  /** Prompts with the same number are equal, and cached; by default each has its own. */
  readonly number?: number;
}

let asked = 0;
const nextNumber = () => {
  asked += 1_000;
  return asked;
};

/** Milliseconds to the first token, and to the end. */
async function streamOf(
  { base, key, model }: ReadyGateway,
  { tokens, promptTokens = 32, number = nextNumber() }: Wanted,
) {
  const content = `${number} `.padEnd(promptTokens, 'What is DMARC? ');
  const end = { temperature: 0, max_tokens: tokens, logit_bias: { [END_TOKEN]: -100 } };
  const startedAt = performance.now();
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...{ model, messages: [{ role: 'user', content }], stream: true }, ...end }),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  let firstMs: number | undefined;
  let text = '';
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (/"content":"[^"]/.test(text)) firstMs ??= performance.now() - startedAt;
  }
  if (!text.includes('[DONE]')) throw new Error(text.slice(-500));
  return { firstMs: firstMs ?? performance.now() - startedAt, endMs: performance.now() - startedAt };
}

/** Tokens a second of so many streams at once after their first tokens, and the time to first token. */
async function loadOf(gateway: ReadyGateway, count: number, wanted: Wanted) {
  const { number = nextNumber() } = wanted;
  const ask = (i: number) => streamOf(gateway, { ...wanted, number: number + i });
  const streams = await Promise.all(Array.from({ length: count }, (_, i) => ask(i)));
  const lastFirst = Math.max(...streams.map(({ firstMs }) => firstMs));
  const seconds =
    (Math.max(...streams.map(({ endMs }) => endMs)) - Math.min(...streams.map((each) => each.firstMs))) / 1_000;
  const firstMs = count === 1 ? lastFirst : median(streams.map((each) => each.firstMs));
  return { rate: (count * (wanted.tokens - 1)) / seconds, firstMs };
}

async function embeddingsOf({ base, key, model }: ReadyGateway): Promise<number> {
  const input = Array.from({ length: INPUTS }, (_, i) =>
    Array.from({ length: INPUT_TOKENS }, (__, at) => (at * 7 + i * 31 + 1) % 256),
  );
  const ask = async () => {
    const response = await fetch(`${base}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input, encoding_format: 'base64' }),
    });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  };
  const { seconds } = await timed(ask);
  return (INPUTS * INPUT_TOKENS) / seconds;
}

async function usedMib(): Promise<number> {
  const { stdout } = await promisify(execFile)('nvidia-smi', [
    '--query-gpu=memory.used',
    '--format=csv,noheader,nounits',
  ]);
  return Number(stdout.trim().split('\n')[0]);
}

const gpuMemory = async () => `${thousands(await usedMib())} MiB of the GPU`;
const sizeText = async (file: string) =>
  `${path.basename(file, '.gguf').split('-').at(-1)} of ${((await stat(file)).size / 1e9).toFixed(1)} GB`;
