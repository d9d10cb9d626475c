// Reads a prompt into a sequence: keeps the common prefix, and reads the remainder in batches, except the last token.
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { commonPrefix } from './choose-slot.ts';

/** Batch size: other jobs run between two batches. */
export const PREFILL_TOKENS = 256;

/** Rejects with the signal's reason when aborted. The last token is left to be read for its logits. */
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

/** Discards everything from this index on. */
export async function eraseFrom(sequence: LlamaContextSequence, index: number): Promise<void> {
  const end = sequence.nextTokenIndex;
  if (end > index) await sequence.eraseContextTokenRanges([{ start: index, end }]);
}
