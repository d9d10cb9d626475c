// Tokens, text and chat template of a llama.cpp model, with or without its weights loaded.
import type { LlamaModel, Token } from 'node-llama-cpp';
import { type ChatPrompt, EngineError } from '../engine.ts';
import { hasTools, renderChat } from '../vocabulary/chat-template.ts';
import { controlTexts, tokenBytes } from './token-bytes.ts';

const DEFAULT_MAX_CONTEXT = 8_192;

/** Default context length: the training context, up to a limit. */
export function defaultContext(trained: number): number {
  return Math.min(trained, DEFAULT_MAX_CONTEXT);
}

export class LlamaVocabulary {
  readonly #model: LlamaModel;
  readonly #bytes: readonly Uint8Array[] | undefined;
  readonly #template: { readonly source: string; readonly controls: readonly string[] } | undefined;
  readonly #contextLength: number;

  constructor(model: LlamaModel, contextLength: number) {
    const { ggml, chat_template: source } = model.fileInfo.metadata.tokenizer;
    const spelling = { model: ggml.model, tokens: ggml.tokens ?? [], types: ggml.token_type ?? [] };
    this.#model = model;
    this.#contextLength = contextLength;
    this.#bytes = tokenBytes(spelling);
    this.#template = source === undefined ? undefined : { source, controls: controlTexts(spelling) };
  }

  /** UTF-8 bytes of a token; may end in the middle of a character. */
  bytesOf(token: number): Uint8Array {
    return this.#bytes?.[token] ?? new TextEncoder().encode(this.#model.detokenize([token as Token]));
  }

  tokenize(text: string, hasControl: boolean): number[] {
    return this.#model.tokenize(text, hasControl);
  }

  detokenize(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.bytesOf(token))).toString('utf8');
  }

  /** Throws EngineError `template-failed`. */
  render(prompt: ChatPrompt): number[] {
    if (!this.#template) throw new EngineError('template-failed', 'the model file has no chat template');
    const tokens = this.#rendered(prompt, this.#template);
    const max = this.#contextLength / 2;
    if (tokens.length <= max || prompt.tools.length === 0 || hasTools(this.#template.source)) return tokens;
    // Tools as text would leave no capacity for an answer; the grammar enforces a required call anyway.
    const without = this.#rendered({ ...prompt, tools: [] }, this.#template);
    return tokens.length - without.length > max ? without : tokens;
  }

  #rendered(prompt: ChatPrompt, template: { readonly source: string; readonly controls: readonly string[] }): number[] {
    const { bosString, eosString, bos } = this.#model.tokens;
    const pieces = renderChat(prompt, { ...template, bos: bosString ?? '', eos: eosString ?? '' });
    const tokens = pieces.flatMap(({ text, hasControl }) => this.tokenize(text, hasControl));
    if (this.#model.tokens.shouldPrependBosToken && bos !== null && tokens[0] !== bos) tokens.unshift(bos);
    return tokens;
  }
}
