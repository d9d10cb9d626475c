// The routes of the OpenAI contract, below `/v1`.
import {
  type AnswerHead,
  CompletionError,
  chatCompletion,
  contentOfVector,
  errorBody,
  type Generation,
  outputItems,
  readChatRequest,
  readCompletionRequest,
  readEmbeddingRequest,
  readResponsesRequest,
  responseObject,
  textCompletion,
} from '@strata/inference';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type AnswerDeps, AnswerRun, embeddingEnd, recordAnswer } from '../answers/answer-run.ts';
import type { Plan } from '../answers/backend.ts';
import { EventWriter } from '../answers/event-writer.ts';
import { fingerprintOf, type Models, modelReport, type ServedModel } from '../answers/models.ts';
import { itemId, ResponseEvents } from '../answers/response-events.ts';
import { SHARES } from '../limits/admission.ts';
import { randomText } from '../store/random-ids.ts';
import type { AnswerStart } from '../store/usage-recorder.ts';
import { asRefusal } from './error-response.ts';

export interface GatewayDeps extends Omit<AnswerDeps, 'admission'> {
  readonly models: Models;
  readonly logger: Logger;
}

/** Adds the routes below `/v1`. */
export function addRoutes(v1: FastifyInstance, deps: GatewayDeps): void {
  const { models } = deps;
  v1.get('/models', () => ({ object: 'list', data: models.list().map(modelReport) }));
  // Model names may contain slashes.
  v1.get('/models/*', (request) => modelReport(models.get((request.params as { '*': string })['*'])));

  v1.post('/chat/completions', async (request, reply) => {
    const asked = readChatRequest(request.body);
    const model = models.get(asked.model);
    const run = await begin(deps, { request, reply, model, asked, prefix: 'chatcmpl-' }, () =>
      model.backend.planChat(asked),
    );
    if (asked.isStreamed) return run.streaming((writer) => run.answer.stream(writer, 'chat.completion.chunk'));
    const { choices, usage } = await run.gather();
    return chatCompletion(run.head, choices, usage);
  });

  v1.post('/completions', async (request, reply) => {
    const asked = readCompletionRequest(request.body);
    const model = models.get(asked.model);
    const run = await begin(deps, { request, reply, model, asked, prefix: 'cmpl-' }, () =>
      model.backend.planText(asked),
    );
    if (asked.isStreamed) return run.streaming((writer) => run.answer.stream(writer, 'text_completion'));
    const { choices, usage } = await run.gather();
    const texts = choices.map(({ content, ...rest }) => ({ text: content ?? '', ...rest }));
    return textCompletion(run.head, texts, usage);
  });

  v1.post('/responses', async (request, reply) => {
    const asked = readResponsesRequest(request.body);
    const model = models.get(asked.chat.model);
    const run = await begin(deps, { request, reply, model, asked: asked.chat, prefix: 'resp_' }, () =>
      model.backend.planChat(asked.chat).catch((error: unknown) => {
        throw error instanceof CompletionError ? asked.renamed(error) : error;
      }),
    );
    if (asked.chat.isStreamed) {
      const events = new ResponseEvents(run.head, asked);
      const fail = (refusal: CompletionError) => events.fail(errorBody(refusal).error.code, refusal.message);
      return run.streaming((writer) => run.answer.streamEvents(writer, events), fail);
    }
    const { choices, usage } = await run.gather();
    const [choice] = choices;
    if (!choice) throw new Error('an answer has no choice');
    return responseObject(run.head, asked, { output: outputItems(choice, itemId), reason: choice.finishReason, usage });
  });

  v1.post('/embeddings', async (request, reply) => {
    const { model: id, inputs, encoding, dimensions } = readEmbeddingRequest(request.body);
    const model = models.get(id);
    if (dimensions !== undefined)
      throw new CompletionError(
        'unsupported_value',
        '`dimensions` is not supported: the model determines the length of its vectors.',
        {
          param: 'dimensions',
        },
      );
    const { signal } = clientSignal(reply);
    const head = headOf(model, 'embd-', deps.now());
    const start = startOf(request, { model, head, now: deps.now() });
    const plan = await model.backend.planEmbeddings(inputs);
    reply.headers(await deps.limits.takePrompt(request.caller, plan.promptTokens));
    using _slot = await model.admission
      .enter(request.caller.id, signal, SHARES[request.caller.priority])
      .catch(orDisconnected(signal));
    const { vectors, promptTokens } = await plan.embed(signal).catch(orDisconnected(signal));
    const contents = vectors.map(contentOfVector);
    const receiptId = deps.recorder.newId();
    const end = embeddingEnd(contents, promptTokens);
    await recordAnswer(deps, request.caller, { receiptId, start, end, taken: plan.promptTokens });
    reply.headers(receiptHeaders(receiptId, start));
    const data = vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'float' ? [...vector] : contents[index],
    }));
    return { object: 'list', data, model: id, usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } };
  });
}

interface AnswerContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly model: ServedModel;
  readonly asked: Generation;
  readonly prefix: string;
}

/** Plans an answer, takes its prompt's tokens, and returns functions to generate it at once or as a stream. */
async function begin(
  deps: GatewayDeps,
  { request, reply, model, asked, prefix }: AnswerContext,
  plan: () => Promise<Plan>,
) {
  const { limits, logger, now } = deps;
  const { admission } = model;
  const receivedAt = now();
  const { id: key, priority } = request.caller;
  admission.check(key, Math.min(asked.choices, admission.slots), SHARES[priority]);
  const { signal, leave } = clientSignal(reply);
  const head = headOf(model, prefix, receivedAt);
  const planned = await plan();
  reply.headers(await limits.takePrompt(request.caller, planned.promptTokens));
  const start = startOf(request, { model, head, now: receivedAt });
  const answer = new AnswerRun(
    { ...deps, admission },
    { plan: planned, request: asked, head, start, caller: request.caller, signal, revoked: request.revoked },
  );
  return {
    head,
    answer,
    gather: async () => {
      const gathered = await answer.gather().catch(orDisconnected(signal));
      reply.headers(receiptHeaders(answer.receiptId, start));
      return gathered;
    },
    streaming: (
      send: (writer: EventWriter) => Promise<void>,
      fail: (refusal: CompletionError) => StreamEvent = errorBody,
    ) => {
      reply.headers(receiptHeaders(answer.receiptId, start));
      return streaming({ request, reply, signal, leave, logger }, { send, fail });
    },
  };
}

/** A stream event; typed events have a name. */
type StreamEvent = object & { readonly type?: string };

/** Sends a stream. An error before the first event is thrown; a later one is sent as the last event, without [DONE]. */
async function streaming(
  {
    request,
    reply,
    signal,
    leave,
    logger,
  }: { request: FastifyRequest; reply: FastifyReply; signal: AbortSignal; leave: () => void; logger: Logger },
  { send, fail }: { send: (writer: EventWriter) => Promise<void>; fail: (refusal: CompletionError) => StreamEvent },
): Promise<FastifyReply> {
  using writer = new EventWriter(reply, signal, { onIdle: leave });
  try {
    await send(writer);
  } catch (error) {
    if (!writer.hasBegun) {
      for (const name of RECEIPT_HEADERS) reply.removeHeader(name);
      throw signal.aborted ? disconnected(error) : error;
    }
    if (!signal.aborted) {
      logger.warn({ requestId: request.id, err: error }, 'a stream failed');
      const event = fail(asRefusal(error));
      await writer.send(event, event.type).catch(() => {});
    }
  }
  writer.end();
  return reply;
}

function headOf({ id, backend }: ServedModel, prefix: string, now: Date): AnswerHead {
  return {
    id: prefix + randomText(18),
    created: Math.floor(now.getTime() / 1_000),
    model: id,
    fingerprint: fingerprintOf(backend),
  };
}

const RECEIPT_HEADERS = ['x-receipt-id', 'x-receipt-salt'] as const;

/** The salt is sent only here and stored nowhere. */
const receiptHeaders = (receiptId: string, { salt }: AnswerStart) => ({
  'x-receipt-id': receiptId,
  'x-receipt-salt': salt,
});

function startOf(
  request: FastifyRequest,
  { model, head, now }: { readonly model: ServedModel; readonly head: AnswerHead; readonly now: Date },
): AnswerStart {
  const { sha256, engine } = model.backend.facts;
  return {
    answerId: head.id,
    requestId: request.id,
    keyId: request.caller.id,
    endpoint: request.routeOptions.url ?? '',
    model: { id: model.id, sha256, engine },
    salt: request.receiptSalt,
    requestDigest: request.bodyDigest,
    receivedAt: now,
  };
}

/** A signal that aborts when the client disconnects before its answer is sent, or when `leave` is called. */
function clientSignal(reply: FastifyReply): { readonly signal: AbortSignal; readonly leave: () => void } {
  const controller = new AbortController();
  const leave = () => controller.abort(new Error('the client has disconnected'));
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) leave();
  });
  return { signal: controller.signal, leave };
}

/** Never sent, because the client has disconnected. */
const disconnected = (cause: unknown) =>
  new CompletionError('invalid_request', 'The client has disconnected.', { cause });

function orDisconnected(signal: AbortSignal) {
  return (error: unknown): never => {
    throw signal.aborted ? disconnected(error) : error;
  };
}
