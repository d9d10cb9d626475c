// How an answer that has a grammar ends before its room does: what is cut short is at least well-formed, and says that it was cut.
import type { LlamaModel } from 'node-llama-cpp';

/** So many tokens before its end such an answer is brought to a close; never more than half of it. */
const CLOSING_TOKENS = 32;

/** The position from which on tokens that close are preferred. */
export function closesAt({ grammar, maxTokens }: { readonly grammar?: string; readonly maxTokens: number }): number {
  return grammar === undefined ? maxTokens : maxTokens - Math.min(CLOSING_TOKENS, Math.floor(maxTokens / 2));
}

/** Tokens that end what a JSON text is in, and how much they are preferred: within a string a bracket ends nothing. */
export function closersOf(model: LlamaModel): ReadonlyMap<number, number> {
  return new Map(
    Object.entries({ '"': 3_000, ']': 2_000, '}': 2_000 }).flatMap(([text, bias]) => {
      const [token, ...more] = model.tokenize(text);
      return token === undefined || more.length > 0 ? [] : [[token as number, bias] as const];
    }),
  );
}
