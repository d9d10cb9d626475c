// `POST /v1/embeddings`.
import { CompletionError, contentOfVector, readEmbeddingRequest } from '@strata/inference';
import { embeddingEnd, recordAnswer } from '../../answers/answer-run.ts';
import { SHARES } from '../../limits/admission.ts';
import { route } from '../route.ts';
import { clientSignal, headOf, orDisconnected, receiptHeaders, startOf } from './answering.ts';

export const createEmbeddings = route(
  {
    method: 'POST',
    path: '/v1/embeddings',
    access: 'key',
    body: { schema: 'EmbeddingRequest', read: readEmbeddingRequest },
    described: { summary: 'Compute embeddings', answer: 'Embeddings' },
  },
  async (app, { body }, { request, reply }) => {
    const { model: id, inputs, encoding, dimensions } = body;
    const model = app.models.get(id);
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
    const start = startOf(request, { model, head, now: app.now() });
    const plan = await model.backend.planEmbeddings(inputs);
    reply.headers(await app.limits.takePrompt(request.caller, plan.promptTokens));
    using _slot = await model.admission
      .enter(request.caller.id, signal, SHARES[request.caller.priority])
      .catch(orDisconnected(signal));
    const { vectors, promptTokens } = await plan.embed(signal).catch(orDisconnected(signal));
    const contents = vectors.map(contentOfVector);
    const receiptId = app.recorder.newId();
    const end = embeddingEnd(contents, promptTokens);
    await recordAnswer(app, request.caller, { receiptId, start, end, taken: plan.promptTokens });
    reply.headers(receiptHeaders(receiptId, start));
    const data = vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encoding === 'float' ? [...vector] : contents[index],
    }));
    return { object: 'list', data, model: id, usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } };
  },
);
