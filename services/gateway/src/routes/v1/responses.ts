// `POST /v1/responses`: the Responses API.
import {
  CompletionError,
  errorBody,
  type OutputItem,
  outputItems,
  readResponsesRequest,
  responseObject,
} from '@strata/inference';
import { answeringModel } from '../../answers/data-backend.ts';
import { itemId, ResponseEvents } from '../../answers/response-events.ts';
import { route } from '../route.ts';
import { begin } from './answering.ts';

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
    const { id: keyId } = exchange.request.caller;
    const asked = readResponsesRequest(body, (id) => app.recentItems.find(keyId, id));
    const keep = (item: OutputItem) => {
      if (asked.isKept) app.recentItems.keep(keyId, item);
    };
    const model = answeringModel(app.models, asked.chat);
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
    const output = outputItems(choice, asked, itemId);
    for (const item of output) keep(item);
    return responseObject(run.head, asked, { output, reason: choice.finishReason, usage });
  },
);
