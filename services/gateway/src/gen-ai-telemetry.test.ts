import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Attributes, type Span, type Tracer, trace } from '@opentelemetry/api';
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

it('an answer is a span and metrics by the conventions for generative AI, without its text', async () => {
  const spans: { name: string; attributes: Attributes; status?: unknown; ms: number }[] = [];
  const startSpan: Tracer['startSpan'] = (name) => {
    const span = { name, attributes: {}, ms: 0 } as (typeof spans)[number];
    spans.push(span);
    const fake: Partial<Span> = {
      isRecording: () => true,
      setAttributes: (attributes) => Object.assign(span, { attributes }) && (fake as Span),
      setStatus: (status) => Object.assign(span, { status }) && (fake as Span),
      end: (endedAt) => void Object.assign(span, { ms: Number(endedAt) - receivedAt.getTime() }),
    };
    return fake as Span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as unknown as Tracer });
  const metrics = new Metrics();
  const record = genAiMeter(metrics);
  const own = { id: 'tiny', engine: 'llama.cpp b7000' };
  record(start('/v1/chat/completions', own), ended({ firstTokenAt: at(200) }), at(1_000));
  const by = { upstream: 'east', model: 'llama-70b', engine: 'other', attempts: 2 };
  const alias = { id: 'chat', engine: 'vllm 0.12.0, other' };
  const failed = { outcome: 'failed', finishReasons: [null, 'length'], answeredBy: [by] };
  record(start('/v1/completions', alias), ended(failed), at(3_000));
  record(start('/v1/embeddings', { id: 'e', engine: '<claimed>' }), ended({ finishReasons: [] }), at(10));
  trace.disable();
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
