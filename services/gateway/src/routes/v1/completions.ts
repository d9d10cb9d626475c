// `POST /v1/chat/completions` and `POST /v1/completions`.
import { chatCompletion, readChatRequest, readCompletionRequest, textCompletion } from '@strata/inference';
import { answeringModel } from '../../answers/data-backend.ts';
import { route } from '../route.ts';
import { allowedTo, begin } from './answering.ts';
import { isResumed, sendStored, startStored } from './stored.ts';

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
    if (asked.isStored && asked.isStreamed) {
      const answer = await startStored(app, exchange, { kind: 'chat', asked, model, prefix: 'chatcmpl-' });
      return sendStored(app, exchange, { answer, isNew: true });
    }
    const run = await begin(app, { ...exchange, model, asked, prefix: 'chatcmpl-' }, () =>
      model.backend.planChat(asked),
    );
    if (asked.isStreamed) return run.streaming((writer) => run.answer.stream(writer, 'chat.completion.chunk'));
    const { choices, usage } = await run.gather();
    return chatCompletion(run.head, choices, usage);
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
