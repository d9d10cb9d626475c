// The tokens that end an answer.
import type { LlamaModel } from 'node-llama-cpp';

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
