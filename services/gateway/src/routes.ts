// The paths of the contract.
import { randomBytes } from 'node:crypto';
import {
  type AnswerHead,
  CompletionError,
  chatCompletion,
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
import type { Admission } from './admission.ts';
import { type Asked, gather, stream, streamResponse } from './answers.ts';
import { EventWriter } from './event-writer.ts';
import { fingerprintOf, type Models, modelReport, type ServedModel } from './models.ts';
import { type Plan, planChat, planText } from './plan-chat.ts';
import { itemId, ResponseEvents } from './response-events.ts';
import { asRefusal } from './server.ts';
import { VERSION } from './version.ts';

export interface GatewayParts {
  readonly models: Models;
  readonly admission: Admission;
  readonly logger: Logger;
  readonly now: () => Date;
}

export function addRoutes(fastify: FastifyInstance, parts: GatewayParts): void {
  const { models } = parts;
  fastify.get('/health', () => ({ status: 'ok', version: VERSION, models: models.list().map(({ id }) => id) }));
  fastify.get('/v1/models', () => ({ object: 'list', data: models.list().map(modelReport) }));
  // Names may hold slashes.
  fastify.get('/v1/models/*', (request) => modelReport(models.get(decoded((request.params as { '*': string })['*']))));

  fastify.post('/v1/chat/completions', async (request, reply) => {
    const asked = readChatRequest(request.body);
    const model = models.get(asked.model);
    return answer(parts, {
      request,
      reply,
      model,
      asked,
      prefix: 'chatcmpl-',
      plan: () => planChat(model.engine, asked),
      kind: 'chat.completion.chunk',
    });
  });

  fastify.post('/v1/completions', async (request, reply) => {
    const asked = readCompletionRequest(request.body);
    const model = models.get(asked.model);
    const [prompt = ''] = asked.prompts;
    if (asked.prompts.length > 1)
      throw new CompletionError('unsupported_value', 'One prompt a request; send several requests.', {
        param: 'prompt',
      });
    if (asked.isEchoed)
      throw new CompletionError('unsupported_value', 'The prompt is not repeated here.', { param: 'echo' });
    return answer(parts, {
      request,
      reply,
      model,
      asked,
      prefix: 'cmpl-',
      plan: () => planText(model.engine, asked, prompt),
      kind: 'text_completion',
    });
  });

  fastify.post('/v1/responses', (request, reply) => respond(parts, request, reply));

  fastify.post('/v1/embeddings', async (request, reply) => {
    const { model: id, inputs, encoding, dimensions } = readEmbeddingRequest(request.body);
    const { engine } = models.get(id);
    if (dimensions !== undefined)
      throw new CompletionError('unsupported_value', 'Vectors have the length that the model gives them.', {
        param: 'dimensions',
      });
    const { signal } = leaving(reply);
    using _place = await parts.admission.enter(request.caller, signal);
    const data = [];
    let promptTokens = 0;
    for (const [index, input] of inputs.entries()) {
      const tokens =
        typeof input === 'string' ? await engine.tokenize(input) : checked(input, engine.info.vocabularySize);
      if (tokens.length > engine.info.contextLength) {
        const message = `This model's maximum context length is ${engine.info.contextLength} tokens. However, your input ${index} resulted in ${tokens.length} tokens.`;
        throw new CompletionError('context_length', message, { param: 'input' });
      }
      promptTokens += tokens.length;
      const vector = await engine.embed(tokens, signal);
      const embedding =
        encoding === 'float'
          ? [...vector]
          : Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
      data.push({ object: 'embedding', index, embedding });
    }
    reply.header('x-request-id', request.id);
    return { object: 'list', data, model: id, usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } };
  });
}

interface AnswerParts {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly model: ServedModel;
  readonly asked: Generation;
  readonly prefix: string;
  readonly plan: () => Promise<Plan>;
  readonly kind: 'chat.completion.chunk' | 'text_completion';
}

async function answer({ admission, logger, now }: GatewayParts, parts: AnswerParts): Promise<unknown> {
  const { request, reply, model, asked, kind } = parts;
  admission.check(asked.choices);
  const { signal } = leaving(reply);
  const head = headOf(model, parts.prefix, now());
  const whole: Asked = {
    engine: model.engine,
    plan: await parts.plan(),
    request: asked,
    head,
    admission,
    caller: request.caller,
    signal,
  };
  if (asked.isStreamed) {
    return streaming(
      { request, reply, signal, logger },
      {
        send: (writer) => stream(whole, writer, kind).then(() => {}),
        fail: (writer, refusal) => writer.send(errorBody(refusal)),
      },
    );
  }
  const { choices, usage } = await gather(whole).catch(gone(signal));
  if (kind === 'chat.completion.chunk') return chatCompletion(head, choices, usage);
  const texts = choices.map(({ content, logprobs, finishReason }) => ({ text: content ?? '', logprobs, finishReason }));
  return textCompletion(head, texts, usage);
}

async function respond({ models, admission, logger, now }: GatewayParts, request: FastifyRequest, reply: FastifyReply) {
  const asked = readResponsesRequest(request.body);
  const model = models.get(asked.chat.model);
  admission.check(1);
  const { signal } = leaving(reply);
  const head = headOf(model, 'resp_', now());
  const whole: Asked = {
    engine: model.engine,
    plan: await planChat(model.engine, asked.chat),
    request: asked.chat,
    head,
    admission,
    caller: request.caller,
    signal,
  };
  if (asked.chat.isStreamed) {
    const events = new ResponseEvents(head, asked);
    return streaming(
      { request, reply, signal, logger },
      {
        send: (writer) => streamResponse(whole, writer, events),
        fail: (writer, refusal) => {
          const event = events.fail(errorBody(refusal).error.code, refusal.message);
          return writer.send(event, event.type);
        },
      },
    );
  }
  const { choices, usage } = await gather(whole).catch(gone(signal));
  const [choice] = choices;
  if (!choice) throw new Error('an answer has no choice');
  return responseObject(head, asked, { output: outputItems(choice, itemId), reason: choice.finishReason, usage });
}

/** Sends a stream; what fails before it began is thrown, what fails after is its last event, and no [DONE] follows it. */
async function streaming(
  {
    request,
    reply,
    signal,
    logger,
  }: { request: FastifyRequest; reply: FastifyReply; signal: AbortSignal; logger: Logger },
  {
    send,
    fail,
  }: {
    send: (writer: EventWriter) => Promise<void>;
    fail: (writer: EventWriter, refusal: CompletionError) => Promise<void>;
  },
): Promise<FastifyReply> {
  using writer = new EventWriter(reply, signal);
  try {
    await send(writer);
  } catch (error) {
    if (signal.aborted) return reply;
    if (!writer.hasBegun) throw error;
    logger.warn({ requestId: request.id, err: error }, 'a stream failed');
    await fail(writer, asRefusal(error)).catch(() => {});
  }
  writer.end();
  return reply;
}

function headOf({ id, engine }: ServedModel, prefix: string, now: Date): AnswerHead {
  return {
    id: prefix + randomBytes(18).toString('base64url'),
    created: Math.floor(now.getTime() / 1_000),
    model: id,
    fingerprint: fingerprintOf(engine),
  };
}

/** Aborted when the client goes before its answer is out. */
function leaving(reply: FastifyReply): { readonly signal: AbortSignal } {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort(new Error('the client is gone'));
  });
  return controller;
}

/** Nobody is there to hear of it. */
function gone(signal: AbortSignal) {
  return (error: unknown): never => {
    if (signal.aborted) throw new CompletionError('invalid_request', 'The client went away.', { cause: error });
    throw error;
  };
}

function checked(tokens: readonly number[], vocabularySize: number): readonly number[] {
  const unknown = tokens.find((token) => token >= vocabularySize);
  if (unknown === undefined) return tokens;
  throw new CompletionError('invalid_value', `There is no token ${unknown} in this model.`, { param: 'input' });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
