// Model files from a seed (GGUF version 3, github.com/ggml-org/ggml/blob/master/docs/gguf.md): valid for every reader,
// of any size, with random weights.

import { randomFor } from '../random.ts';
import { ALIGNMENT, aligned, bool, f32, numbers, text, texts, u32, Writer } from './gguf-writer.ts';

export interface RandomModelOptions {
  readonly seed: number | string;
  readonly name: string;
  readonly layers: number;
  /** Width of a token; a multiple of 32 and of `heads`. */
  readonly width: number;
  readonly heads: number;
  /** Width of the feed-forward part; a multiple of 32. */
  readonly hidden: number;
  readonly context: number;
  readonly weights: 'F16' | 'Q8_0' | 'Q4_0';
  /** Of a model family; ChatML by default. */
  readonly family?: ModelFamily;
  /** How the vectors of its tokens become one; absent: the metadata do not say. */
  readonly pooling?: keyof typeof POOLING;
}

/** What a family's model file says of its answers. */
export interface ModelFamily {
  /** Jinja. */
  readonly template: string;
  /** Tokens without text of their own. */
  readonly controls: readonly string[];
  /** Tokens that are text, each one token. */
  readonly added?: readonly string[];
  /** The token that ends an answer, of `controls`. */
  readonly end: string;
  /** Tokens that are about ten times as likely at every position as the rest. */
  readonly likely?: readonly string[];
}

/** llama.h: `llama_pooling_type`. */
const POOLING = { none: 0, mean: 1, cls: 2, last: 3, rank: 4 } as const;

/** Values of Q8_0 and of Q4_0 that share a scale. */
const BLOCK = 32;
const FILE_TYPES = { F16: 1, Q4_0: 2, Q8_0: 7 } as const;
const TENSOR_TYPES = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 8 } as const;
export const CHATML =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const CHATML_FAMILY: ModelFamily = {
  ...{ template: CHATML, controls: ['<|im_start|>', '<|im_end|>'], end: '<|im_end|>' },
};

/** The bytes of a model: llama architecture, a token for each byte, ChatML. The same seed gives the same bytes. */
export function randomModel(options: RandomModelOptions): Uint8Array {
  const { layers, width, heads, hidden, context, weights, pooling, family = CHATML_FAMILY } = options;
  const vocabulary = byteVocabulary(family);
  const tensors = tensorsOf(options, vocabulary);
  const head = new Writer();
  head.head(
    [
      ['general.architecture', text('llama')],
      ['general.name', text(options.name)],
      ['general.alignment', u32(ALIGNMENT)],
      ['general.file_type', u32(FILE_TYPES[weights])],
      ['llama.context_length', u32(context)],
      ['llama.embedding_length', u32(width)],
      ['llama.block_count', u32(layers)],
      ['llama.feed_forward_length', u32(hidden)],
      ['llama.attention.head_count', u32(heads)],
      ['llama.attention.head_count_kv', u32(heads)],
      ['llama.attention.layer_norm_rms_epsilon', f32(1e-5)],
      ['llama.rope.dimension_count', u32(width / heads)],
      ['llama.rope.freq_base', f32(10_000)],
      ...(pooling === undefined ? [] : [['llama.pooling_type', u32(POOLING[pooling])] as const]),
      ['llama.vocab_size', u32(vocabulary.tokens.length)],
      ['tokenizer.ggml.model', text('gpt2')],
      ['tokenizer.ggml.pre', text('gpt-2')],
      ['tokenizer.ggml.tokens', texts(vocabulary.tokens)],
      ['tokenizer.ggml.token_type', numbers(vocabulary.types)],
      ['tokenizer.ggml.merges', texts(vocabulary.merges)],
      ['tokenizer.ggml.bos_token_id', u32(vocabulary.end)],
      ['tokenizer.ggml.eos_token_id', u32(vocabulary.end)],
      ['tokenizer.ggml.add_bos_token', bool(false)],
      ['tokenizer.chat_template', text(family.template)],
    ],
    tensors.length,
  );
  let offset = 0;
  for (const { name, shape, type, data } of tensors) {
    head.string(name);
    head.u32(shape.length);
    for (const size of shape) head.u64(size);
    head.u32(TENSOR_TYPES[type]);
    head.u64(offset);
    offset = aligned(offset + data.length);
  }
  head.pad();
  for (const { data } of tensors) {
    head.bytes(data);
    head.pad();
  }
  return head.finish();
}

interface Tensor {
  readonly name: string;
  /** Length of a row first. */
  readonly shape: readonly number[];
  readonly type: keyof typeof TENSOR_TYPES;
  readonly data: Uint8Array;
}

function tensorsOf(options: RandomModelOptions, { tokens }: { readonly tokens: readonly string[] }): Tensor[] {
  const { seed, layers, width, hidden, weights, family } = options;
  /** `first`: the first value of each row. */
  const matrix = (name: string, row: number, rows: number, first?: (row: number) => number): Tensor => {
    const random = randomFor(seed, name);
    // Variance chosen so that activations neither grow nor vanish over the layers.
    const values = Float32Array.from(
      { length: row * rows },
      () => ((random.next() + random.next() + random.next() - 1.5) * 2) / Math.sqrt(row),
    );
    for (let i = 0; first && i < rows; i += 1) values[i * row] = first(i);
    return { name, shape: [row, rows], type: weights, data: WRITERS[weights](values) };
  };
  const ones = (name: string): Tensor => ({
    name,
    shape: [width],
    type: 'F32',
    data: new Uint8Array(new Float32Array(width).fill(1).buffer),
  });
  const layer = (i: number): Tensor[] => [
    ones(`blk.${i}.attn_norm.weight`),
    ...['q', 'k', 'v', 'output'].map((part) => matrix(`blk.${i}.attn_${part}.weight`, width, width)),
    ones(`blk.${i}.ffn_norm.weight`),
    ...['gate', 'up'].map((part) => matrix(`blk.${i}.ffn_${part}.weight`, width, hidden)),
    matrix(`blk.${i}.ffn_down.weight`, hidden, width),
  ];
  // A value that all tokens share, and that the output weighs for some of them.
  const likely = family?.likely;
  return [
    matrix('token_embd.weight', width, tokens.length, likely && (() => 1)),
    ...Array.from({ length: layers }, (_, i) => layer(i)).flat(),
    ones('output_norm.weight'),
    matrix('output.weight', width, tokens.length, likely && ((row) => (likely.includes(tokens[row] ?? '') ? 0.5 : 0))),
  ];
}

/** A letter for each byte, as GPT-2 spells them; one merge, which readers expect; the tokens of the family. */
export function byteVocabulary({ controls, added = [], end }: ModelFamily = CHATML_FAMILY) {
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad && byte < 0x100);
  let next = 0x100;
  const letters = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
  const plain = [...letters, 'Ġa'];
  const tokens = [...plain, ...controls, ...added];
  const types = [...plain.map(() => 1), ...controls.map(() => 3), ...added.map(() => 4)];
  return { tokens, types, merges: ['Ġ a'], end: tokens.indexOf(end) };
}

function half(values: Float32Array): Uint8Array {
  return new Uint8Array(Float16Array.from(values).buffer);
}

/** Q8_0: for each block a 16-bit scale and one byte per value. */
function blocks(values: Float32Array): Uint8Array {
  const bytes = new Uint8Array((values.length / BLOCK) * (2 + BLOCK));
  const view = new DataView(bytes.buffer);
  for (let block = 0; block * BLOCK < values.length; block += 1) {
    const part = values.subarray(block * BLOCK, (block + 1) * BLOCK);
    const scale = part.reduce((max, value) => Math.max(max, Math.abs(value)), 0) / 127;
    const at = block * (2 + BLOCK);
    view.setFloat16(at, scale, true);
    for (const [i, value] of part.entries()) view.setInt8(at + 2 + i, scale === 0 ? 0 : Math.round(value / scale));
  }
  return bytes;
}

/** Q4_0: for each block a 16-bit scale and half a byte per value, the first half of the block in the low nibbles. */
function smallBlocks(values: Float32Array): Uint8Array {
  const size = 2 + BLOCK / 2;
  const bytes = new Uint8Array((values.length / BLOCK) * size);
  const view = new DataView(bytes.buffer);
  for (let block = 0; block * BLOCK < values.length; block += 1) {
    const part = values.subarray(block * BLOCK, (block + 1) * BLOCK);
    // The value with the largest magnitude maps to -8; the scale may be negative.
    const scale = part.reduce((max, value) => (Math.abs(value) > Math.abs(max) ? value : max), 0) / -8;
    const level = (i: number) => Math.min(15, Math.floor(scale === 0 ? 8 : (part[i] as number) / scale + 8.5));
    view.setFloat16(block * size, scale, true);
    for (let i = 0; i < BLOCK / 2; i += 1) bytes[block * size + 2 + i] = level(i) | (level(i + BLOCK / 2) << 4);
  }
  return bytes;
}

const WRITERS = { F16: half, Q8_0: blocks, Q4_0: smallBlocks } as const;
