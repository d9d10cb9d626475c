// The end of an answer. With a grammar it is closed before its token limit: a truncated answer is still well-formed, and
// reports `length`.
import type { LlamaModel } from 'node-llama-cpp';

/** The answer is closed this many tokens before its limit, but not before half of it. */
const CLOSING_TOKENS = 32;

/** The position from which closing tokens are preferred. */
export function closesAt({ grammar, maxTokens }: { readonly grammar?: string; readonly maxTokens: number }): number {
  return grammar === undefined ? maxTokens : maxTokens - Math.min(CLOSING_TOKENS, Math.floor(maxTokens / 2));
}

/** What closes an answer. */
export interface Closers {
  /** Tokens that close a JSON string, array or object, with their bias. */
  readonly biases: ReadonlyMap<number, number>;
  /** The token of a line break: where a grammar allows it, the answer is within text and not within JSON. */
  readonly lineBreak: number | undefined;
}

/** Quotes rank higher, because a bracket within a string closes nothing. */
export function closersOf(model: LlamaModel): Closers {
  const biases = new Map(
    Object.entries({ '"': 3_000, ']': 2_000, '}': 2_000 }).flatMap(([text, bias]) => {
      const [token, ...more] = model.tokenize(text);
      return token === undefined || more.length > 0 ? [] : [[token as number, bias] as const];
    }),
  );
  return { biases, lineBreak: model.tokenize('\n').at(-1) };
}

/** Whether closing tokens are of use at this point of an answer. */
export function isClosable(grammar: { allows(token: number): boolean }, { lineBreak }: Closers): boolean {
  return lineBreak === undefined || !grammar.allows(lineBreak);
}

/** This call is not public in node-llama-cpp (its version is pinned, and a test has such a model). */
interface ModelBinding {
  isEogToken(token: number): boolean;
}

/**
 * Whether a token ends an answer, as llama.cpp decides. node-llama-cpp's own method adds the model's end of a turn, which
 * in gpt-oss only ends a message: `<|end|>`.
 */
export function isEndToken(model: LlamaModel, token: number): boolean {
  const { _model } = model as unknown as { readonly _model: ModelBinding };
  return _model.isEogToken(token);
}
