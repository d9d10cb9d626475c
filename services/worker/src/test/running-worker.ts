// A worker on a simulated engine, and requests to it, for tests.
import { hash, randomBytes } from 'node:crypto';
import { CHUNK_BYTES, type FileTree } from '@strata/engine';
import type { FrameOf } from '@strata/inference';
import { createSimulatedEngine, type SimulatedEngineOptions, simulatedAnswer } from '@strata/testnet';
import pino from 'pino';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { readWorkerConfig, type WorkerConfig } from '../config.ts';
import type { ContributedModel } from '../contributed-model.ts';
import { startWorker } from '../run-worker.ts';
import type { WorkerEvent } from '../worker-event.ts';

export const vocabularyBytes = randomBytes(2_500_000);

/** A model file of two chunks. */
const tree: FileTree = {
  ...{ sizeBytes: CHUNK_BYTES + 2, root: new Uint8Array(32), digest: 'd'.repeat(64) },
  chunk: async () => ({ bytes: Uint8Array.of(7, 7), path: new Uint8Array(32) }),
};

export function simulatedModel(options: SimulatedEngineOptions = {}): ContributedModel {
  const sha256 = hash('sha256', vocabularyBytes);
  return {
    ...{ name: 'simulated', tree, engine: createSimulatedEngine(options), speed: { prefill: 1_000, decode: 100 } },
    vocabulary: { bytes: vocabularyBytes, sha256, templateSha256: sha256 },
  };
}

export const configOf = (settings: Readonly<Record<string, string | undefined>>): WorkerConfig =>
  readWorkerConfig({ STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off', ...settings });

interface TestWorkerOptions extends SimulatedEngineOptions {
  readonly join?: readonly string[];
  readonly queue?: number;
  /** The directory of a previous worker, which is kept. */
  readonly directory?: string;
  readonly model?: ContributedModel;
  readonly metrics?: boolean;
}

export type TestWorker = Awaited<ReturnType<typeof startTestWorker>>;

export async function startTestWorker({ join = [], queue = 16, metrics, ...options }: TestWorkerOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const directory = options.directory ?? stack.use(await temporaryDirectory()).path;
  const config = configOf({
    ...{ STRATA_DATA: directory, STRATA_JOIN: join.join(' '), STRATA_QUEUE: String(queue) },
    STRATA_METRICS_PORT: metrics ? 'worker=0' : undefined,
  });
  const news: WorkerEvent[] = [];
  const model = options.model ?? simulatedModel(options);
  const logger = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const deps = { logger, onEvent: (event: WorkerEvent) => news.push(event) };
  const worker = stack.use(await startWorker(config, deps, { models: [model] }));
  const owned = stack.move();
  return { worker, directory, news, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

export const PROMPT = [11, 22, 33];
const PENALTIES = { presencePenalty: 0, frequencyPenalty: 0, logitBias: [] };
const SAMPLING = { temperature: 1, topP: 1, topK: 0, minP: 0, ...PENALTIES };
const SEED = 7;

/** The first tokens of the true answer to `requestOf`. */
export const truth = (count: number): readonly number[] => simulatedAnswer(PROMPT, { seed: SEED, count });

export function requestOf(id: number, change: Partial<FrameOf<'request'>> = {}): FrameOf<'request'> {
  return {
    ...{ kind: 'request', id, nonce: randomBytes(16), modelSha256: '1'.padStart(64, '0'), prompt: PROMPT, given: [] },
    ...{ replay: 'exact', maxTokens: 40, credit: 100_000 },
    sampling: { ...SAMPLING, seed: SEED },
    ...change,
  };
}
