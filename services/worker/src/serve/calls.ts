// The short questions of a gateway: how likely an answer is, what a text means as a vector, and the vocabulary, part by part.
import type { Frame, FrameOf } from '@strata/inference';
import { failureOf, RequestFailure } from './failure.ts';
import { checkTokens, type RequestDeps, samplingOf } from './serve-request.ts';

export type Ask = FrameOf<'score' | 'embed' | 'vocabularyAsk'>;

export type AskDeps = Pick<RequestDeps, 'model' | 'places' | 'logger' | 'grammars' | 'fitness'>;

/** Of a vocabulary in one frame; far below what a message may have. */
const PART_BYTES = 512 * 1024;

/** The frame that answers it, `failed` included; undefined: it is not wanted any more. Never rejects. */
export async function answerAsk(
  ask: Ask,
  deps: AskDeps,
  options: { readonly gateway: string; readonly signal: AbortSignal },
): Promise<Frame | undefined> {
  try {
    options.signal.throwIfAborted();
    return ask.kind === 'vocabularyAsk' ? partOf(ask, deps) : await computed(ask, deps, options);
  } catch (error) {
    if (options.signal.aborted) return undefined;
    const { code, message } = failureOf(error);
    if (code === 'engine-failed') deps.logger.error({ err: error, gateway: options.gateway }, 'an ask failed');
    return { kind: 'failed', id: ask.id, code, message };
  }
}

async function computed(
  ask: FrameOf<'score' | 'embed'>,
  { model: { engine }, places, grammars, fitness }: AskDeps,
  { gateway, signal }: { readonly gateway: string; readonly signal: AbortSignal },
): Promise<Frame> {
  const { sha256, vocabularySize, contextLength } = engine.info;
  if (ask.modelSha256 !== sha256) throw new RequestFailure('unknown-model', 'this worker has no such model');
  const lists = ask.kind === 'score' ? [ask.prompt, ask.answer] : [ask.tokens];
  checkTokens(lists, vocabularySize);
  if (lists[0]?.length === 0) throw new RequestFailure('unusable', 'there is nothing to read');
  if (lists.reduce((sum, { length }) => sum + length, 0) > contextLength)
    throw new RequestFailure('unusable', `more tokens than the context, ${contextLength}`);
  const trouble = fitness.trouble();
  if (trouble) throw trouble;
  using _place = await places.enter(gateway, signal);
  if (ask.kind === 'embed')
    return { kind: 'embedded', id: ask.id, vector: [...(await engine.embed(ask.tokens, signal))] };
  const { prompt, answer, hasEnd, grammar, maxTokens } = ask;
  const job = {
    ...{ prompt, answer, hasEnd, sampling: samplingOf(ask.sampling) },
    ...(grammar === undefined ? {} : { grammar }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
  const margins = await grammars.guard(gateway, grammar, () => engine.score(job, signal));
  return { kind: 'scored', id: ask.id, margins };
}

function partOf({ id, vocabularySha256, from }: FrameOf<'vocabularyAsk'>, { model }: AskDeps): Frame {
  const { bytes, sha256 } = model.vocabulary;
  if (vocabularySha256 !== sha256) throw new RequestFailure('unknown-model', 'this worker has no such vocabulary');
  if (from > bytes.byteLength) throw new RequestFailure('unusable', 'the vocabulary is shorter');
  const part = bytes.subarray(from, from + PART_BYTES);
  return { kind: 'vocabularyPart', id, from, sizeBytes: bytes.byteLength, part };
}
