// Tokens, text and chat template of a llama.cpp model, with or without its weights loaded.
import type { LlamaModel, Token } from 'node-llama-cpp';
import { type ChatPrompt, EngineError, type ModelMarks } from '../engine.ts';
import { hasTools } from '../vocabulary/adapt-prompt.ts';
import { renderChat } from '../vocabulary/chat-template.ts';
import { isEndToken } from './closing.ts';

const DEFAULT_MAX_CONTEXT = 8_192;

/** Default context length: the training context, up to a limit. */
export function defaultContext(trained: number): number {
  return Math.min(trained, DEFAULT_MAX_CONTEXT);
}

export class LlamaVocabulary {
  readonly #model: LlamaModel;
  readonly #bytes: readonly Uint8Array[] | undefined;
  readonly #spelling: Vocabulary;
  /** Whether a text, and one after a control token, begins with a space that it does not have. */
  readonly #addsSpaces: boolean;
  readonly #template: { readonly source: string; readonly controls: readonly string[] } | undefined;
  readonly #contextLength: number;
  readonly #marks: ModelMarks;

  constructor(model: LlamaModel, contextLength: number) {
    const { ggml, chat_template: source } = model.fileInfo.metadata.tokenizer;
    const spelling = { model: ggml.model, tokens: ggml.tokens ?? [], types: ggml.token_type ?? [] };
    this.#model = model;
    this.#contextLength = contextLength;
    this.#bytes = tokenBytes(spelling);
    this.#spelling = spelling;
    this.#addsSpaces = ggml.model === 'llama' && ggml.add_space_prefix !== false;
    this.#marks = marksOf(source ?? '', spelling);
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

  /** The text that has these tokens: with the texts of control tokens, and without the spaces that SentencePiece adds. */
  spell(tokens: readonly number[]): string {
    const { types, tokens: texts } = this.#spelling;
    let isAdded = this.#addsSpaces;
    const written = tokens.map((token) => {
      const type = types[token] ?? 0;
      const bytes = type === CONTROL ? utf8.encode(texts[token] ?? '') : this.bytesOf(token);
      const isWritten = !isAdded || CONTROL_TYPES.has(type) || bytes[0] !== SPACE;
      isAdded = this.#addsSpaces && CONTROL_TYPES.has(type);
      return isWritten ? bytes : bytes.subarray(1);
    });
    return Buffer.concat(written).toString('utf8');
  }

  marks(): ModelMarks {
    return this.#marks;
  }

  /** The tokens that end an answer. */
  ends(): number[] {
    const size = this.#model.fileInfo.metadata.tokenizer.ggml.tokens?.length ?? 0;
    return Array.from({ length: size }, (_, token) => token).filter((token) => isEndToken(this.#model, token));
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

interface Vocabulary {
  /** `gpt2`: bytes as letters; `llama`: SentencePiece. */
  readonly model: string;
  readonly tokens: readonly string[];
  /** `llama_token_type`, by token. */
  readonly types: readonly number[];
}

const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const BYTE = 6;
const SPACE = 0x20;
/** Types that a template inserts as control tokens. */
const CONTROL_TYPES = new Set([UNKNOWN, CONTROL, USER_DEFINED]);
const utf8 = new TextEncoder();

/** Bytes of every token; control tokens have none. Undefined for a vocabulary with another spelling. */
export function tokenBytes({ model, tokens, types }: Vocabulary): readonly Uint8Array[] | undefined {
  const spell = model === 'gpt2' ? lettersToBytes : model === 'llama' ? piecesToBytes : undefined;
  if (!spell) return undefined;
  return tokens.map((text, token) => {
    if (types[token] === CONTROL) return new Uint8Array();
    return types[token] === USER_DEFINED ? utf8.encode(text) : spell(text, types[token] === BYTE);
  });
}

/** Texts with which a template controls the model, longest first: in user text they must stay plain text. */
export function controlTexts({ tokens, types }: Vocabulary): readonly string[] {
  return tokens
    .filter((text, token) => text !== '' && CONTROL_TYPES.has(types[token] ?? 0))
    .sort((a, b) => b.length - a.length);
}

/** Their bytes are empty: their texts are not part of an answer, but say what its parts are. */
function marksOf(template: string, { tokens, types }: Vocabulary): ModelMarks {
  const controls = new Map<number, string>();
  for (const [token, text] of tokens.entries())
    if (types[token] === CONTROL && text !== '' && template.includes(text)) controls.set(token, text);
  return { template, controls };
}

/** GPT-2 spells each byte as a printable letter: itself where possible, otherwise one from 256 on. */
const byteOfLetter = new Map<string, number>();
{
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad && byte < 0x100);
  let next = 0x100;
  for (let byte = 0; byte < 0x100; byte += 1)
    byteOfLetter.set(String.fromCharCode(isPrintable(byte) ? byte : next++), byte);
}

function lettersToBytes(text: string): Uint8Array {
  const bytes = [];
  for (const letter of text) {
    const byte = byteOfLetter.get(letter);
    // Added tokens are plain text.
    if (byte === undefined) return utf8.encode(text);
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

function piecesToBytes(text: string, isByte: boolean): Uint8Array {
  const byte = isByte ? /^<0x([0-9A-F]{2})>$/.exec(text) : null;
  return byte ? Uint8Array.of(Number.parseInt(byte[1] ?? '', 16)) : utf8.encode(text.replaceAll('▁', ' '));
}
