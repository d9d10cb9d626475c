// Spans and metrics of answers by the semantic conventions of OpenTelemetry for generative AI, without any text
// (https://github.com/open-telemetry/semantic-conventions-genai, status: development). Metrics have their names of
// Prometheus: dots are underscores, and units are at the end.
import { type Attributes, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { Metrics } from '@strata/http';
import type { AnswerEnd, AnswerStart } from './answers/receipts/answer-receipt.ts';

/** The boundaries that the conventions recommend. */
const BUCKETS = {
  tokens: Array.from({ length: 14 }, (_, at) => 4 ** at),
  seconds: Array.from({ length: 14 }, (_, at) => 2 ** at / 100),
  firstToken: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  perToken: [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5],
};
/** Workers choose names of models: above this number of combinations they count as one. */
const MAX_SERIES = 200;

type Labels = Readonly<
  Record<'gen_ai_operation_name' | 'gen_ai_provider_name' | 'gen_ai_request_model' | 'gen_ai_response_model', string>
>;

/** Records answers that have ended. */
export function genAiMeter(
  metrics: Metrics,
  tracer: Tracer = trace.getTracer('strata-gateway'),
): (start: AnswerStart, end: AnswerEnd, endedAt: Date) => void {
  const histogram = <More extends string = never>(name: string, help: string, buckets: readonly number[]) =>
    metrics.histogram<keyof Labels | More>(`gen_ai_${name}`, help, buckets);
  const tokens = histogram<'gen_ai_token_type'>('client_token_usage', 'Tokens of answers', BUCKETS.tokens);
  const duration = histogram<'error_type'>('server_request_duration_seconds', 'Time to answer', BUCKETS.seconds);
  const first = histogram('server_time_to_first_token_seconds', 'Time to the first token', BUCKETS.firstToken);
  const each = histogram('server_time_per_output_token_seconds', 'Per token after the first', BUCKETS.perToken);
  const newRecorders = (labels: Labels) => ({
    input: tokens({ ...labels, gen_ai_token_type: 'input' }),
    output: tokens({ ...labels, gen_ai_token_type: 'output' }),
    completed: duration(labels),
    ended: (errorType: string) => duration({ ...labels, error_type: errorType }),
    ...{ first: first(labels), each: each(labels) },
  });
  const known = new Map<string, ReturnType<typeof newRecorders>>();
  const recordersOf = (labels: Labels) => {
    const key = Object.values(labels).join('\n');
    const found = known.get(key);
    if (found) return found;
    const isOther = known.size >= MAX_SERIES && labels.gen_ai_request_model !== OTHER;
    if (isOther) return recordersOf({ ...labels, gen_ai_request_model: OTHER, gen_ai_response_model: OTHER });
    const recorders = newRecorders(labels);
    known.set(key, recorders);
    return recorders;
  };
  return (start, end, endedAt) => {
    const labels = labelsOf(start, end);
    const { outcome, usage, firstTokenAt } = end;
    const recorders = recordersOf(labels);
    if (usage.promptTokens > 0) {
      recorders.input(usage.promptTokens);
      recorders.output(usage.completionTokens);
    }
    const secondsTo = (at: Date) => (at.getTime() - start.receivedAt.getTime()) / 1_000;
    if (outcome === 'completed') recorders.completed(secondsTo(endedAt));
    else recorders.ended(outcome)(secondsTo(endedAt));
    if (outcome === 'completed' && firstTokenAt) {
      recorders.first(secondsTo(firstTokenAt));
      const following = usage.completionTokens - 1;
      if (following > 0) recorders.each((secondsTo(endedAt) - secondsTo(firstTokenAt)) / following);
    }
    recordSpan(tracer, labels, { start, end, endedAt });
  };
}

const OTHER = 'other';

/** A child of the request's span, if traces are exported. */
function recordSpan(
  tracer: Tracer,
  labels: Labels,
  { start, end, endedAt }: { readonly start: AnswerStart; readonly end: AnswerEnd; readonly endedAt: Date },
): void {
  const { gen_ai_operation_name: operation, gen_ai_request_model: model } = labels;
  const span = tracer.startSpan(`${operation} ${model}`, { kind: SpanKind.CLIENT, startTime: start.receivedAt });
  if (span.isRecording()) {
    span.setAttributes(attributesOf(labels, start, end));
    if (end.outcome === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end(endedAt);
}

function attributesOf(labels: Labels, { answerId, receivedAt }: AnswerStart, end: AnswerEnd): Attributes {
  const { outcome, usage, finishReasons, firstTokenAt, answeredBy = [] } = end;
  const reasons = finishReasons.filter((reason) => reason !== null);
  return {
    'gen_ai.operation.name': labels.gen_ai_operation_name,
    'gen_ai.provider.name': labels.gen_ai_provider_name,
    'gen_ai.request.model': labels.gen_ai_request_model,
    'gen_ai.response.model': labels.gen_ai_response_model,
    'gen_ai.response.id': answerId,
    'gen_ai.usage.input_tokens': usage.promptTokens,
    'gen_ai.usage.output_tokens': usage.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
    ...(reasons.length > 0 ? { 'gen_ai.response.finish_reasons': [...reasons] } : {}),
    ...(finishReasons.length > 1 ? { 'gen_ai.request.choice.count': finishReasons.length } : {}),
    ...(outcome === 'completed' ? {} : { 'error.type': outcome }),
    ...(firstTokenAt ? { 'strata.first_token_seconds': (firstTokenAt.getTime() - receivedAt.getTime()) / 1_000 } : {}),
    ...(answeredBy[0]
      ? { 'strata.upstream': answeredBy[0].upstream ?? 'gateway', 'strata.attempts': answeredBy[0].attempts }
      : {}),
  };
}

const OPERATIONS: Readonly<Record<string, string>> = {
  '/v1/completions': 'text_completion',
  '/v1/embeddings': 'embeddings',
};
/** Kinds of engines; of an unknown upstream its API. What else a worker reports is not a label. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'llama.cpp': 'llama.cpp',
  vllm: 'vllm',
  ollama: 'ollama',
  other: 'openai',
};

function labelsOf({ endpoint, model }: AnswerStart, { answeredBy: [by] = [] }: AnswerEnd): Labels {
  const kind = (by?.engine ?? model.engine).split(' ')[0] ?? '';
  return {
    gen_ai_operation_name: OPERATIONS[endpoint] ?? 'chat',
    gen_ai_provider_name: Object.hasOwn(PROVIDERS, kind) ? (PROVIDERS[kind] as string) : 'strata',
    gen_ai_request_model: model.id,
    gen_ai_response_model: by?.model ?? model.id,
  };
}
