// `/v1/chat/completions`, with stored ones, and `POST /v1/completions`.
import { chatCompletion, readChatRequest, readCompletionRequest, textCompletion } from '@strata/inference';
import { z } from 'zod';
import { answeringModel } from '../../answers/data-backend.ts';
import { route } from '../route.ts';
import { allowedTo, begin } from './answering.ts';
import { findStored, isResumed, sendStored, startStored, storedChat } from './stored.ts';

export const createChatCompletion = route(
  {
    method: 'POST',
    path: '/v1/chat/completions',
    body: { schema: 'ChatCompletionRequest', read: readChatRequest },
    described: {
      summary: 'Answer a conversation',
      answer: 'ChatCompletion',
      stream: 'With `stream: true`: chunks as `data: {ChatCompletionChunk}`, terminated by `data: [DONE]`.',
    },
  },
  async (app, { body: asked }, exchange) => {
    if (await isResumed(app, exchange)) return undefined;
    const model = answeringModel(app.models, asked, allowedTo(exchange.request));
    if (asked.isStored) {
      const answer = await startStored(app, exchange, { kind: 'chat', asked, model, prefix: 'chatcmpl-' });
      return asked.isStreamed ? sendStored(app, exchange, { answer, isNew: true }) : storedChat(app, exchange, answer);
    }
    const run = await begin(app, { ...exchange, model, asked, prefix: 'chatcmpl-' }, () =>
      model.backend.planChat(asked),
    );
    if (asked.isStreamed) return run.streaming((writer) => run.answer.stream(writer, 'chat.completion.chunk'));
    const { choices, usage } = await run.gather();
    return chatCompletion(run.head, choices, usage);
  },
);

const params = z.object({ id: z.string().max(100) });

export const getChatCompletion = route(
  {
    method: 'GET',
    path: '/v1/chat/completions/{id}',
    isLong: true,
    params,
    described: { summary: 'Get a stored chat completion of this key, when it is over', answer: 'ChatCompletion' },
  },
  async (app, { id }, exchange) =>
    storedChat(app, exchange, await findStored(app, exchange.request, { id, kind: 'chat' })),
);

export const deleteChatCompletion = route(
  {
    method: 'DELETE',
    path: '/v1/chat/completions/{id}',
    params,
    described: { summary: 'Delete a stored chat completion of this key', answer: 'DeletedChatCompletion' },
  },
  async (app, { id }, { request }) => {
    await app.storedAnswers.remove(await findStored(app, request, { id, kind: 'chat' }));
    return { id, object: 'chat.completion.deleted', deleted: true };
  },
);

export const createCompletion = route(
  {
    method: 'POST',
    path: '/v1/completions',
    body: { schema: 'CompletionRequest', read: readCompletionRequest },
    described: {
      summary: 'Complete a text',
      answer: 'Completion',
      stream: 'With `stream: true`: chunks as `data: {Completion}`, terminated by `data: [DONE]`.',
    },
  },
  async (app, { body: asked }, exchange) => {
    if (await isResumed(app, exchange)) return undefined;
    const model = app.models.get(asked.model, allowedTo(exchange.request));
    if (asked.isStored && asked.isStreamed) {
      const answer = await startStored(app, exchange, { kind: 'text', asked, model, prefix: 'cmpl-' });
      return sendStored(app, exchange, { answer, isNew: true });
    }
    const run = await begin(app, { ...exchange, model, asked, prefix: 'cmpl-' }, () => model.backend.planText(asked));
    if (asked.isStreamed) return run.streaming((writer) => run.answer.stream(writer, 'text_completion'));
    const { choices, usage } = await run.gather();
    const texts = choices.map(({ content, ...rest }) => ({ text: content ?? '', ...rest }));
    return textCompletion(run.head, texts, usage);
  },
);
