// Serves the calls of a gateway other than requests: scores, embeddings, and the parts of the vocabulary.
import type { Frame, FrameOf } from '@strata/inference';
import { failureOf, RequestFailure } from './failure.ts';
import { checkTokens, type RequestDeps, samplingOf } from './serve-request.ts';

export type WorkerCall = FrameOf<'score' | 'embed' | 'vocabularyAsk'>;

export type CallDeps = Pick<RequestDeps, 'model' | 'slots' | 'logger' | 'grammars' | 'fitness'>;

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
    return call.kind === 'vocabularyAsk' ? partOf(call, deps) : await computed(call, deps, options);
  } catch (error) {
    if (options.signal.aborted) return undefined;
    const { code, message } = failureOf(error);
    if (code === 'engine-failed') deps.logger.error({ err: error, gateway: options.gateway }, 'a call failed');
    return { kind: 'failed', id: call.id, code, message };
  }
}

async function computed(
  call: FrameOf<'score' | 'embed'>,
  { model: { engine }, slots, grammars, fitness }: CallDeps,
  { gateway, signal }: { readonly gateway: string; readonly signal: AbortSignal },
): Promise<Frame> {
  const { sha256, vocabularySize, contextLength } = engine.info;
  if (call.modelSha256 !== sha256) throw new RequestFailure('unknown-model', 'this worker does not have this model');
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

function partOf({ id, vocabularySha256, from }: FrameOf<'vocabularyAsk'>, { model }: CallDeps): Frame {
  const { bytes, sha256 } = model.vocabulary;
  if (vocabularySha256 !== sha256)
    throw new RequestFailure('unknown-model', 'this worker does not have this vocabulary');
  if (from > bytes.byteLength) throw new RequestFailure('unusable', 'the vocabulary is shorter');
  const part = bytes.subarray(from, from + PART_BYTES);
  return { kind: 'vocabularyPart', id, from, sizeBytes: bytes.byteLength, part };
}
