// Closes an answer with a grammar before its token limit: a truncated answer is still well-formed, and reports
// `length`.
import type { LlamaModel } from 'node-llama-cpp';

/** The answer is closed this many tokens before its limit, but not before half of it. */
const CLOSING_TOKENS = 32;

/** The position from which closing tokens are preferred. */
export function closesAt({ grammar, maxTokens }: { readonly grammar?: string; readonly maxTokens: number }): number {
  return grammar === undefined ? maxTokens : maxTokens - Math.min(CLOSING_TOKENS, Math.floor(maxTokens / 2));
}

/**
 * Tokens that close a JSON string, array or object, with their bias: quotes rank higher, because a bracket within a
 * string closes nothing.
 */
export function closersOf(model: LlamaModel): ReadonlyMap<number, number> {
  return new Map(
    Object.entries({ '"': 3_000, ']': 2_000, '}': 2_000 }).flatMap(([text, bias]) => {
      const [token, ...more] = model.tokenize(text);
      return token === undefined || more.length > 0 ? [] : [[token as number, bias] as const];
    }),
  );
}
