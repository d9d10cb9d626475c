// Serves the calls of a gateway other than requests: scores, embeddings, parts of the vocabulary, and chunks of
// the model file.
import { CHUNK_BYTES } from '@strata/engine';
import type { Frame, FrameOf } from '@strata/inference';
import { failureOf, RequestFailure } from './failure.ts';
import { checkTokens, modelWith, type RequestDeps, samplingOf } from './serve-request.ts';

export type WorkerCall = FrameOf<'score' | 'embed' | 'vocabularyAsk' | 'chunkAsk'>;

export type CallDeps = Pick<RequestDeps, 'models' | 'slots' | 'logger' | 'grammars' | 'fitness' | 'chunkLimit'>;

/** Maximum part of a vocabulary in one frame; far below the limit of a message. */
const PART_BYTES = 512 * 1024;

/** The frame with the reply, possibly `failed`; undefined if the call was cancelled. Never rejects. */
export async function answerCall(
  call: WorkerCall,
  deps: CallDeps,
  options: { readonly gateway: string; readonly signal: AbortSignal },
): Promise<Frame | undefined> {
  try {
    options.signal.throwIfAborted();
    if (call.kind === 'vocabularyAsk') return partOf(call, deps);
    return call.kind === 'chunkAsk' ? await chunkOf(call, deps, options.gateway) : await computed(call, deps, options);
  } catch (error) {
    if (options.signal.aborted) return undefined;
    const { code, message } = failureOf(error);
    if (code === 'engine-failed') deps.logger.error({ err: error, gateway: options.gateway }, 'a call failed');
    return { kind: 'failed', id: call.id, code, message };
  }
}

async function computed(
  call: FrameOf<'score' | 'embed'>,
  { models, slots, grammars, fitness }: CallDeps,
  { gateway, signal }: { readonly gateway: string; readonly signal: AbortSignal },
): Promise<Frame> {
  const { engine } = modelWith(models, call.modelSha256);
  const { vocabularySize, contextLength, lacks } = engine.info;
  if (lacks?.includes(call.kind === 'score' ? 'scores' : 'embeddings'))
    throw new RequestFailure(
      'unusable',
      `the engine of this worker has no ${call.kind === 'score' ? 'scores' : 'vectors'}`,
    );
  const lists = call.kind === 'score' ? [call.prompt, call.answer] : [call.tokens];
  checkTokens(lists, vocabularySize);
  if (lists[0]?.length === 0) throw new RequestFailure('unusable', 'the prompt is empty');
  if (lists.reduce((sum, { length }) => sum + length, 0) > contextLength)
    throw new RequestFailure('unusable', `the tokens exceed the context of ${contextLength} tokens`);
  const failure = fitness.failure();
  if (failure) throw failure;
  using _slot = await slots.enter(gateway, signal);
  if (call.kind === 'embed')
    return { kind: 'embedded', id: call.id, vector: [...(await engine.embed(call.tokens, signal))] };
  const { prompt, answer, hasEnd, grammar, maxTokens } = call;
  const job = {
    ...{ prompt, answer, hasEnd, sampling: samplingOf(call.sampling) },
    ...(grammar === undefined ? {} : { grammar }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  const margins = await grammars.guard(gateway, grammar, () => engine.score(job, signal));
  return { kind: 'scored', id: call.id, margins };
}

function partOf({ id, vocabularySha256, from }: FrameOf<'vocabularyAsk'>, { models }: CallDeps): Frame {
  const vocabulary = models.map((model) => model.vocabulary).find(({ sha256 }) => sha256 === vocabularySha256);
  if (!vocabulary) throw new RequestFailure('unknown-model', 'this worker does not have this vocabulary');
  const { bytes } = vocabulary;
  if (from > bytes.byteLength) throw new RequestFailure('unusable', 'the vocabulary is shorter');
  const part = bytes.subarray(from, from + PART_BYTES);
  return { kind: 'vocabularyPart', id, from, sizeBytes: bytes.byteLength, part };
}

/** Reads one chunk of the model file; few of them, so that gateways cannot use workers to download models. */
async function chunkOf(
  { id, modelSha256, index }: FrameOf<'chunkAsk'>,
  { models, chunkLimit }: CallDeps,
  gateway: string,
): Promise<Frame> {
  const { tree } = modelWith(models, modelSha256);
  if (!tree) throw new RequestFailure('unknown-model', 'this worker cannot prove chunks of this model');
  if (index * CHUNK_BYTES >= tree.sizeBytes) throw new RequestFailure('unusable', `the file has no chunk ${index}`);
  if (chunkLimit.take(gateway) > 0) throw new RequestFailure('busy', 'too many chunks were requested');
  const { bytes: part, path } = await tree.chunk(index);
  const rootSha256 = Buffer.from(tree.root).toString('hex');
  return { kind: 'chunk', id, sizeBytes: tree.sizeBytes, rootSha256, part, path };
}
