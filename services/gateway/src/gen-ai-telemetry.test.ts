import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Tracer } from '@opentelemetry/api';
import { Metrics } from '@strata/http';
import { casesOf } from '../../../tests/support/vectors.ts';
import type { AnswerEnd, AnswerStart } from './answers/receipts/answer-receipt.ts';
import { genAiMeter } from './gen-ai-telemetry.ts';

const receivedAt = new Date(1_000_000);
const at = (ms: number) => new Date(receivedAt.getTime() + ms);
const start = (endpoint: string, model: object) =>
  ({ answerId: 'chatcmpl-1', endpoint, model, salt: 'hidden', receivedAt }) as unknown as AnswerStart;
const usage = { promptTokens: 20, completionTokens: 5, cachedTokens: 8, reasoningTokens: 0 };
const ended = (more: object) =>
  ({
    outcome: 'completed',
    usage,
    finishReasons: ['stop'],
    content: 'hidden',
    segments: [],
    ...more,
  }) as unknown as AnswerEnd;

type Recorded = [endpoint: string, model: object, end: { firstTokenMs?: number }, ms: number];

it('an answer is a span and metrics by the conventions for generative AI, without its text', async () => {
  const spans: object[] = [];
  const startSpan = (name: string) => {
    const span = { name };
    spans.push(span);
    return {
      isRecording: () => true,
      setAttributes: (attributes: object) => Object.assign(span, { attributes }),
      setStatus: (status: object) => Object.assign(span, { status }),
      end: (endedAt: Date) => Object.assign(span, { ms: Number(endedAt) - Number(receivedAt) }),
    };
  };
  const metrics = new Metrics();
  const record = genAiMeter(metrics, { startSpan } as unknown as Tracer);
  for (const [endpoint, model, { firstTokenMs, ...end }, ms] of casesOf<Recorded[]>('gateway', 'answers to record'))
    record(start(endpoint, model), ended(firstTokenMs ? { ...end, firstTokenAt: at(firstTokenMs) } : end), at(ms));
  assert.deepEqual(spans, casesOf<unknown[]>('gateway', 'spans of answers'));
  const text = await metrics.registry.metrics();
  for (const line of casesOf<string[]>('gateway', 'metrics of answers')) assert.ok(text.includes(`\n${line}\n`), line);
  assert.doesNotMatch(text + JSON.stringify(spans), /hidden|claimed/);
});

it('names of models that workers choose do not make metrics grow', async () => {
  const metrics = new Metrics();
  const record = genAiMeter(metrics);
  for (let i = 0; i < 500; i += 1) record(start('/v1/responses', { id: `m${i}`, engine: 'x' }), ended({}), at(1));
  const text = await metrics.registry.metrics();
  const counts = text.match(/^gen_ai_server_request_duration_seconds_count\{.*\} \d+$/gm) ?? [];
  assert.equal(counts.length, 201);
  assert.match(counts.at(-1) ?? '', /gen_ai_request_model="other".* 300$/);
});
