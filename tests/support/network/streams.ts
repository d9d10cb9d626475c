// Streams of a cluster, read by the client that applications use, and compared with what an undisturbed engine gives.
import assert from 'node:assert/strict';
import { simulatedAnswer, simulatedText } from '@strata/testnet';
import OpenAI from 'openai';
import type { GatewayProcess } from './cluster.ts';

export interface StreamAsk {
  readonly prompt: readonly number[];
  readonly seed: number;
  readonly tokens: number;
  readonly model?: string;
  readonly signal?: AbortSignal;
  /** Called with the number of chunks so far. */
  readonly onPiece?: (count: number) => void;
}

type StreamOutcome = Awaited<ReturnType<typeof streamOf>>;

export function clientOf({ ready }: GatewayProcess): OpenAI {
  return new OpenAI({ baseURL: `${ready.base}/v1`, apiKey: ready.key, maxRetries: 0 });
}

const STREAMED = { stream: true, stream_options: { include_usage: true } } as const;

/** Rejects as the client does when the stream ends with an error, or without its end. */
export async function streamOf(client: OpenAI, ask: StreamAsk) {
  const startedAt = performance.now();
  const asked = client.completions.create(
    { model: ask.model ?? 'simulated', prompt: [...ask.prompt], seed: ask.seed, max_tokens: ask.tokens, ...STREAMED },
    ask.signal === undefined ? {} : { signal: ask.signal },
  );
  const { data: stream, response } = await asked.withResponse();
  const receiptId = response.headers.get('x-receipt-id');
  const ids = new Set<string>();
  const text: string[] = [];
  let finish: string | null = null;
  let completionTokens: number | undefined;
  let firstTokenMs = Number.NaN;
  /** Longest time between two pieces of text. */
  let longestGapMs = 0;
  let lastAt = startedAt;
  for await (const { id, choices, usage } of stream) {
    ids.add(id);
    completionTokens = usage?.completion_tokens ?? completionTokens;
    const [choice] = choices;
    finish = choice?.finish_reason ?? finish;
    if (!choice?.text) continue;
    const now = performance.now();
    if (text.length === 0) firstTokenMs = now - startedAt;
    else longestGapMs = Math.max(longestGapMs, now - lastAt);
    lastAt = now;
    text.push(choice.text);
    ask.onPiece?.(text.length);
  }
  const totalMs = performance.now() - startedAt;
  return { receiptId, text: text.join(''), ids, finish, completionTokens, firstTokenMs, longestGapMs, totalMs };
}

/** The text that an undisturbed simulated engine gives. */
export function truthOf({ prompt, seed, tokens }: StreamAsk, modelSeed = 1): string {
  return simulatedAnswer(prompt, { seed, count: tokens, modelSeed }).map(simulatedText).join('');
}

/** What is wrong with a stream; empty: it is complete, and nothing is lost or repeated. */
export function faultsOf(outcome: StreamOutcome, ask: StreamAsk, modelSeed = 1): readonly string[] {
  const faults: string[] = [];
  const truth = truthOf(ask, modelSeed);
  if (outcome.text !== truth) faults.push(`text differs ${differenceOf(outcome.text, truth)}`);
  if (outcome.ids.size !== 1) faults.push(`${outcome.ids.size} completion ids`);
  if (outcome.finish !== 'length') faults.push(`finish reason ${outcome.finish}`);
  if (outcome.completionTokens !== ask.tokens) faults.push(`usage of ${outcome.completionTokens} tokens`);
  return faults;
}

/** Streams of all of these at once, each of them complete. */
export async function assertComplete(client: OpenAI, asks: readonly StreamAsk[]) {
  const outcomes = await Promise.all(asks.map((ask) => streamOf(client, ask)));
  for (const [i, ask] of asks.entries())
    assert.deepEqual(faultsOf(outcomes[i] ?? assert.fail(), ask), [], `stream ${i}, seed ${ask.seed}`);
  return outcomes;
}

function differenceOf(text: string, truth: string): string {
  const words = text.split(' ');
  const at = truth.split(' ').findIndex((word, i) => word !== words[i]);
  return `at word ${at}: '${words.slice(at, at + 3).join(' ')}', of ${words.length} words`;
}
