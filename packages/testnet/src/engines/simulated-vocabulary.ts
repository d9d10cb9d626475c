// Vocabularies as files, which are GGUF without tensors: that of simulated engines, whose tokens match the engine's texts, and
// one of SentencePiece.
import { hash } from 'node:crypto';
import { byteVocabulary, CHATML } from './gguf.ts';
import { ALIGNMENT, bool, numbers, text, texts, u32, Writer } from './gguf-writer.ts';

export const VOCABULARY_SIZE = 4_096;
const bytes = byteVocabulary();
/** Tokens below are bytes and control tokens; from here on each is a word. */
export const FIRST_WORD = bytes.tokens.length;

/** The text of a token: a word with its number. */
export const simulatedText = (token: number): string => ` w${token}`;

/** The file, with the hex SHA-256 of itself and of its chat template. */
export function simulatedVocabulary(): {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly templateSha256: string;
} {
  const words = Array.from({ length: VOCABULARY_SIZE - FIRST_WORD }, (_, i) => `\u0120w${FIRST_WORD + i}`);
  const tokens = [...bytes.tokens, ...words];
  const writer = new Writer();
  writer.head(
    [
      ['general.architecture', text('llama')],
      ['general.name', text('simulated')],
      ['general.alignment', u32(ALIGNMENT)],
      ['llama.context_length', u32(131_072)],
      ['llama.vocab_size', u32(tokens.length)],
      ['tokenizer.ggml.model', text('gpt2')],
      ['tokenizer.ggml.pre', text('gpt-2')],
      ['tokenizer.ggml.tokens', texts(tokens)],
      ['tokenizer.ggml.token_type', numbers([...bytes.types, ...words.map(() => 1)])],
      ['tokenizer.ggml.merges', texts(bytes.merges)],
      ['tokenizer.ggml.bos_token_id', u32(bytes.end)],
      ['tokenizer.ggml.eos_token_id', u32(bytes.end)],
      ['tokenizer.ggml.add_bos_token', bool(false)],
      ['tokenizer.chat_template', text(CHATML)],
    ],
    0,
  );
  const file = finished(writer);
  return { bytes: file, sha256: hash('sha256', file), templateSha256: hash('sha256', CHATML) };
}

/** The file of a SentencePiece vocabulary of bytes, with ChatML after a token that begins a text. */
export function pieceVocabulary(): Uint8Array {
  const byte = (_: unknown, value: number) => `<0x${value.toString(16).toUpperCase().padStart(2, '0')}>`;
  const tokens = ['<unk>', '<s>', '<|im_start|>', '<|im_end|>', ...Array.from({ length: 256 }, byte), '▁'];
  const types = tokens.map((each) => (each === '<unk>' ? 2 : each === '▁' ? 1 : each.startsWith('<0x') ? 6 : 3));
  const writer = new Writer();
  writer.head(
    [
      ['general.architecture', text('llama')],
      ['general.name', text('pieces')],
      ['general.alignment', u32(ALIGNMENT)],
      ['llama.context_length', u32(8_192)],
      ['llama.vocab_size', u32(tokens.length)],
      ['tokenizer.ggml.model', text('llama')],
      ['tokenizer.ggml.tokens', texts(tokens)],
      ['tokenizer.ggml.token_type', numbers(types)],
      ['tokenizer.ggml.bos_token_id', u32(tokens.indexOf('<s>'))],
      ['tokenizer.ggml.eos_token_id', u32(tokens.indexOf('<|im_end|>'))],
      ['tokenizer.ggml.add_bos_token', bool(true)],
      ['tokenizer.chat_template', text(`{{ bos_token }}${CHATML}`)],
    ],
    0,
  );
  return finished(writer);
}

function finished(writer: Writer): Uint8Array {
  writer.pad();
  return writer.finish();
}
