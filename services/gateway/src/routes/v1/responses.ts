// `/v1/responses`: the Responses API.
import {
  CompletionError,
  errorBody,
  type OutputItem,
  outputItems,
  type ResponsesRequest,
  readResponsesRequest,
  responseObject,
} from '@strata/inference';
import { z } from 'zod';
import { answeringModel } from '../../answers/data-backend.ts';
import type { ServedModel } from '../../answers/models.ts';
import { itemId, ResponseEvents } from '../../answers/response-events.ts';
import { type Exchange, type GatewayApp, route } from '../route.ts';
import { allowedTo, begin, clientSignal, receiptHeaders } from './answering.ts';
import { findStored, isResumed, lastNumberOf, sendStored, startStored, storedResponse, untilOver } from './stored.ts';

export const createResponse = route(
  {
    method: 'POST',
    path: '/v1/responses',
    body: { schema: 'ResponseRequest', read: (body) => body },
    described: {
      summary: 'Answer a conversation (Responses API)',
      answer: 'Response',
      stream: 'With `stream: true`: typed events, from `response.created` to `response.completed`.',
    },
  },
  async (app, { body }, exchange) => {
    if (await isResumed(app, exchange)) return undefined;
    const { id: keyId } = exchange.request.caller;
    const asked = readResponsesRequest(body, (id) => app.recentItems.find(keyId, id));
    const keep = (item: OutputItem) => {
      if (asked.isKept) app.recentItems.keep(keyId, item);
    };
    const model = answeringModel(app.models, asked.chat, allowedTo(exchange.request));
    if (asked.chat.isStored) return createStored(app, exchange, { asked, model });
    const run = await begin(app, { ...exchange, model, asked: asked.chat, prefix: 'resp_' }, () =>
      model.backend.planChat(asked.chat).catch((error: unknown) => {
        throw error instanceof CompletionError ? asked.renamed(error) : error;
      }),
    );
    if (asked.chat.isStreamed) {
      const events = new ResponseEvents(run.head, asked, keep);
      const fail = (refusal: CompletionError) => events.fail(errorBody(refusal).error.code, refusal.message);
      return run.streaming((writer) => run.answer.streamEvents(writer, events), fail);
    }
    const { choices, usage } = await run.gather();
    const [choice] = choices;
    if (!choice) throw new Error('an answer has no choice');
    let items = 0;
    const output = outputItems(choice, asked, (prefix) => itemId(run.head.id, prefix, items++));
    for (const item of output) keep(item);
    return responseObject(run.head, asked, { output, reason: choice.finishReason, usage });
  },
);

/** A response in the background is returned at once, another one when it is over. */
async function createStored(
  app: GatewayApp,
  exchange: Exchange,
  { asked, model }: { readonly asked: ResponsesRequest; readonly model: ServedModel },
): Promise<unknown> {
  const { renamed, ...facts } = asked;
  const answer = await startStored(app, exchange, { kind: 'response', asked: facts, model, prefix: 'resp_' }).catch(
    (error: unknown) => {
      throw error instanceof CompletionError ? renamed(error) : error;
    },
  );
  if (asked.chat.isStreamed) return sendStored(app, exchange, { answer, isNew: true });
  exchange.reply.headers(receiptHeaders(answer.receiptId, answer.request.start));
  if (!asked.isBackground) await untilOver(app, answer, clientSignal(exchange.reply).signal);
  return storedResponse(app, answer);
}

const params = z.object({ id: z.string().max(100) });

export const getResponse = route(
  {
    method: 'GET',
    path: '/v1/responses/{id}',
    isLong: true,
    params,
    query: z.object({
      stream: z.enum(['true', 'false']).optional().describe('The events of the response, as they are generated.'),
      starting_after: z.coerce.number().int().min(0).optional().describe('Only events with larger `sequence_number`s.'),
    }),
    described: {
      summary: 'Get a stored response of this key',
      answer: 'Response',
      stream: 'With `stream=true`: typed events, as of the request that created it.',
    },
  },
  async (app, { id, stream, starting_after }, exchange) => {
    const answer = await findStored(app, exchange.request, { id, kind: 'response' });
    if (stream !== 'true') return storedResponse(app, answer);
    return sendStored(app, exchange, { answer, after: starting_after ?? lastNumberOf(exchange.request, id) });
  },
);

export const cancelResponse = route(
  {
    method: 'POST',
    path: '/v1/responses/{id}/cancel',
    params,
    described: { summary: 'Cancel a response in the background', answer: 'Response' },
  },
  async (app, { id }, { request }) => {
    const answer = await findStored(app, request, { id, kind: 'response' });
    if (!answer.request.asked.isBackground)
      throw new CompletionError('invalid_request', 'Only responses in the background can be cancelled.');
    await app.storedAnswers.cancel(answer);
    return storedResponse(app, answer);
  },
);

export const deleteResponse = route(
  {
    method: 'DELETE',
    path: '/v1/responses/{id}',
    params,
    described: { summary: 'Delete a stored response of this key', answer: 'DeletedResponse' },
  },
  async (app, { id }, { request }) => {
    await app.storedAnswers.remove(await findStored(app, request, { id, kind: 'response' }));
    return { id, object: 'response', deleted: true };
  },
);
