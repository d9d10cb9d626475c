// A prompt read into a sequence: what it holds already is kept, the rest is read in batches, all but the last token.
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { commonPrefix } from './choose-slot.ts';

/** Tokens read at once: others have their turn in between. */
export const PREFILL_TOKENS = 256;

/** Rejects with the signal's reason when it is aborted in between. The last token is left to be read for its logits. */
export async function readTokens(
  sequence: LlamaContextSequence,
  tokens: readonly number[],
  { onBegin, signal }: { readonly onBegin?: (cachedTokens: number) => void; readonly signal: AbortSignal },
): Promise<void> {
  const last = tokens.length - 1;
  const common = Math.min(commonPrefix(sequence.contextTokens, tokens), last);
  await eraseFrom(sequence, common);
  onBegin?.(common);
  for (let from = common; from < last; from += PREFILL_TOKENS) {
    signal.throwIfAborted();
    await sequence.controlledEvaluate(tokens.slice(from, Math.min(from + PREFILL_TOKENS, last)) as Token[]);
  }
}

/** Forgets what was read from this index on. */
export async function eraseFrom(sequence: LlamaContextSequence, index: number): Promise<void> {
  const end = sequence.nextTokenIndex;
  if (end > index) await sequence.eraseContextTokenRanges([{ start: index, end }]);
}
