// A request that is answered by a model: planned and counted, then answered completely or as a stream, with the id of its
// receipt and the salt of its digests in the headers.
import { orderedText } from '@strata/db';
import { type AnswerHead, CompletionError, errorBody, type Generation } from '@strata/inference';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { AnswerRun } from '../../answers/answer-run.ts';
import type { AnsweredBy, Plan } from '../../answers/backend.ts';
import { EventWriter, type StreamEvent } from '../../answers/event-writer.ts';
import { fingerprintOf, type ServedModel } from '../../answers/models.ts';
import type { AnswerStart } from '../../answers/receipts/answer-receipt.ts';
import { SHARES } from '../../limits/admission.ts';
import { mayUse } from '../../store/access/policy.ts';
import { asRefusal } from '../error-response.ts';
import type { GatewayApp } from '../route.ts';

interface AnswerContext {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly model: ServedModel;
  readonly asked: Generation;
  readonly prefix: string;
}

/** Plans an answer, and reserves its tokens. */
export async function prepare(
  { limits, now }: GatewayApp,
  { request, reply, model, prefix }: Omit<AnswerContext, 'asked'>,
  planning: () => Promise<Plan>,
) {
  const receivedAt = now();
  const { id: key, priority } = request.caller;
  model.admission.check(key, 1, SHARES[priority]);
  const head = headOf(model, prefix, receivedAt);
  const plan = await planning();
  // The first is counted where the request enters.
  for (let i = 1; i < (plan.requests ?? 1); i += 1) reply.headers(await limits.takeRequest(request.caller));
  const reservation = await limits.reserve(request.caller, plan, model.id);
  reply.headers(reservation.headers);
  return { head, plan, reservation, start: startOf(request, { ...reservation, model, head, now: receivedAt }) };
}

/** Plans an answer, reserves its tokens, and returns functions to generate it at once or as a stream. */
export async function begin(app: GatewayApp, { asked, ...context }: AnswerContext, planning: () => Promise<Plan>) {
  const { request, reply, model } = context;
  const { signal, leave } = clientSignal(reply);
  const { head, plan, reservation, start } = await prepare(app, context, planning);
  const { recorder, now, stopping, running, logger } = app;
  const { admission } = model;
  const answer = new AnswerRun(
    { admission, recorder, now, stopping, running },
    {
      ...{ plan, reservation, request: asked, head, start },
      ...{ caller: request.caller, signal, revoked: request.revoked },
      onAnswered: (by) => {
        if (!reply.raw.headersSent) reply.headers(answeredHeaders(by));
      },
    },
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

/**
 * Sends a stream. An error before the first event is thrown; a later one is sent as the last event, without [DONE], or ends the
 * stream without one. Resolves without the reply, which is a thenable: awaiting it gives undefined.
 */
export async function streaming(
  {
    request,
    reply,
    signal,
    leave,
    logger,
  }: { request: FastifyRequest; reply: FastifyReply; signal: AbortSignal; leave: () => void; logger: Logger },
  { send, fail }: { send: (writer: EventWriter) => Promise<void>; fail?: (refusal: CompletionError) => StreamEvent },
): Promise<void> {
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
      if (fail) await writer.send(fail(asRefusal(error))).catch(() => {});
    }
  }
  writer.end();
}

/** Whether the key of a request may use a model; undefined: any. */
export function allowedTo({ caller: { access } }: FastifyRequest): ((model: string) => boolean) | undefined {
  return access === null ? undefined : (model) => mayUse(access, model);
}

export function headOf({ id, backend }: ServedModel, prefix: string, now: Date): AnswerHead {
  return {
    id: prefix + orderedText(now),
    created: Math.floor(now.getTime() / 1_000),
    model: id,
    fingerprint: fingerprintOf(backend),
  };
}

const RECEIPT_HEADERS = ['x-receipt-id', 'x-receipt-salt', 'x-model-verified', 'x-answered-by'] as const;

/** The salt is sent only here and stored nowhere. */
export const receiptHeaders = (receiptId: string, { salt, model: { verified } }: AnswerStart) => ({
  'x-receipt-id': receiptId,
  'x-receipt-salt': salt,
  // RFC 9651: an item with a parameter.
  'x-model-verified': `${verified.level};reason="${verified.reason}"`,
});

/** RFC 9651: an item with parameters. Names of the settings have no quotation marks; those of the network may. */
export const answeredHeaders = ({ upstream, model, attempts }: AnsweredBy) => ({
  'x-answered-by': `${upstream ?? 'gateway'};model="${model.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?')}";attempts=${attempts}`,
});

export function startOf(
  request: FastifyRequest,
  {
    model,
    head,
    now,
    charge,
  }: Pick<AnswerStart, 'charge'> & { readonly model: ServedModel; readonly head: AnswerHead; readonly now: Date },
): AnswerStart {
  const { backend } = model;
  const { sha256, engine } = backend.facts;
  return {
    answerId: head.id,
    requestId: request.id,
    keyId: request.caller.id,
    endpoint: request.routeOptions.url ?? '',
    model: { id: model.id, sha256, engine, verified: backend.verified },
    salt: request.receiptSalt,
    requestDigest: request.bodyDigest,
    receivedAt: now,
    ...(charge && { charge }),
  };
}

/** A signal that aborts when the client disconnects before its answer is sent, or when `leave` is called. */
export function clientSignal(reply: FastifyReply): { readonly signal: AbortSignal; readonly leave: () => void } {
  const controller = new AbortController();
  const leave = () => controller.abort(new Error('the client has disconnected'));
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) leave();
  });
  return { signal: controller.signal, leave };
}

/** Never sent, because the client has disconnected. */
export const disconnected = (cause: unknown) =>
  new CompletionError('invalid_request', 'The client has disconnected.', { cause });

export function orDisconnected(signal: AbortSignal) {
  return (error: unknown): never => {
    throw signal.aborted ? disconnected(error) : error;
  };
}
