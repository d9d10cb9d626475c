// `POST /v1/embeddings`.
import { CompletionError, contentOfVector, readEmbeddingRequest } from '@strata/inference';
import type { FastifyRequest } from 'fastify';
import type { AnsweredBy, EmbeddingPlan } from '../../answers/backend.ts';
import type { ServedModel } from '../../answers/models.ts';
import type { AnswerEnd, AnswerStart } from '../../answers/receipts/answer-receipt.ts';
import { runInSlots } from '../../limits/admission.ts';
import type { Reservation } from '../../limits/limits.ts';
import { costOf } from '../../store/access/policy.ts';
import { type GatewayApp, route } from '../route.ts';
import {
  allowedTo,
  answeredHeaders,
  clientSignal,
  headOf,
  orDisconnected,
  receiptHeaders,
  startOf,
} from './answering.ts';

export const createEmbeddings = route(
  {
    method: 'POST',
    path: '/v1/embeddings',
    body: { schema: 'EmbeddingRequest', read: readEmbeddingRequest },
    described: { summary: 'Compute embeddings', answer: 'Embeddings' },
  },
  async (app, { body }, { request, reply }) => {
    const { model: id, inputs, encoding, dimensions } = body;
    const model = app.models.get(id, allowedTo(request));
    if (dimensions !== undefined)
      throw new CompletionError(
        'unsupported_value',
        '`dimensions` is not supported: the model determines the length of its vectors.',
        {
          param: 'dimensions',
        },
      );
    const { signal } = clientSignal(reply);
    const head = headOf(model, 'embd-', app.now());
    const receivedAt = app.now();
    const plan = await model.backend.planEmbeddings(inputs);
    const reservation = await app.limits.reserve(request.caller, { ...plan, answerTokens: 0 }, model.id);
    const start = startOf(request, { ...reservation, model, head, now: receivedAt });
    reply.headers(reservation.headers);
    const run = embed(app, { request, model, plan, reservation, start, signal });
    app.running.add(run);
    const { vectors, contents, promptTokens, receiptId, answeredBy } = await run
      .finally(() => app.running.delete(run))
      .catch(orDisconnected(signal));
    reply.headers(receiptHeaders(receiptId, start));
    for (const by of answeredBy) reply.headers(answeredHeaders(by));
    const data = vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'float' ? [...vector] : contents[index],
    }));
    return { object: 'list', data, model: id, usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } };
  },
);

interface EmbeddingRun {
  readonly request: FastifyRequest;
  readonly model: ServedModel;
  readonly plan: EmbeddingPlan;
  readonly reservation: Reservation;
  readonly start: AnswerStart;
  readonly signal: AbortSignal;
}

/** Computes the vectors as slots become free, and records them; of a client that left, the inputs that were processed. */
async function embed(app: GatewayApp, { request, model, plan, reservation, start, signal }: EmbeddingRun) {
  const usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  const receiptId = app.recorder.newId();
  const answeredBy: AnsweredBy[] = [];
  const endOf = (outcome: AnswerEnd['outcome'], content: AnswerEnd['content']) => ({
    ...{ outcome, content, usage, finishReasons: [], firstTokenAt: undefined, segments: [], answeredBy },
  });
  const record = (outcome: AnswerEnd['outcome'], content: AnswerEnd['content']) => {
    const endedAt = app.now();
    reservation.settle(usage.promptTokens, costOf(start.charge?.price ?? null, usage), endedAt);
    return app.recorder.keep(receiptId, start, endOf(outcome, content), { isBegun: false, endedAt });
  };
  const vectorsOf: (readonly Float32Array[])[] = [];
  try {
    const use = { admission: model.admission, caller: request.caller, signal };
    await runInSlots(plan.parts.length, use, async (part, stop) => {
      stop.throwIfAborted();
      vectorsOf[part] = (await plan.parts[part]?.(usage, stop, (by) => answeredBy.push(by))) ?? [];
    });
  } catch (error) {
    if (signal.aborted && usage.promptTokens > 0) await record('cancelled', []).catch(() => {});
    else {
      reservation.settle(0);
      usage.promptTokens = 0;
      app.recorder.unanswered(start, endOf(signal.aborted ? 'cancelled' : 'failed', []));
    }
    throw error;
  }
  const vectors = vectorsOf.flat();
  const contents = vectors.map(contentOfVector);
  await record('completed', contents);
  return { vectors, contents, promptTokens: usage.promptTokens, receiptId, answeredBy };
}
