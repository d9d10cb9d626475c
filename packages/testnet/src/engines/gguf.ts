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
  /** Heads that share keys and values; as many as `heads` by default. */
  readonly keyHeads?: number;
  /** Width of the feed-forward part; a multiple of 32. */
  readonly hidden: number;
  readonly context: number;
  readonly weights: 'F16' | 'Q8_0' | 'Q4_0';
  /** Of a model family; ChatML by default. */
  readonly family?: ModelFamily;
  /** How the vectors of its tokens become one; absent: the metadata do not say. */
  readonly pooling?: keyof typeof POOLING;
  /** Tokens in addition to the family's, which no text has: a vocabulary of the size of a large model's. */
  readonly spareTokens?: number;
  /** Weights repeat after 4 million: a large model is written at the speed of the disk. */
  readonly repeats?: boolean;
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
/** Blocks after which weights repeat; prime, so that no two of as many rows are equal. */
const PERIOD_BLOCKS = 131_071;
const FILE_TYPES = { F16: 1, Q4_0: 2, Q8_0: 7 } as const;
const TENSOR_TYPES = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 8 } as const;
/** Of 32 values. */
const BLOCK_BYTES = { F32: 4 * BLOCK, F16: 2 * BLOCK, Q4_0: 2 + BLOCK / 2, Q8_0: 2 + BLOCK } as const;
export const CHATML =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

const CHATML_FAMILY: ModelFamily = {
  ...{ template: CHATML, controls: ['<|im_start|>', '<|im_end|>'], end: '<|im_end|>' },
};

/** The bytes of a model: llama architecture, a token for each byte, ChatML. The same seed gives the same bytes. */
export function randomModel(options: RandomModelOptions): Uint8Array {
  return Buffer.concat([...randomModelParts(options)]);
}

/** The same bytes one after another: a model may be larger than what fits into memory. */
export function* randomModelParts(options: RandomModelOptions): Iterable<Uint8Array> {
  const { layers, width, heads, keyHeads = heads, hidden, context, weights, pooling, family = CHATML_FAMILY } = options;
  const vocabulary = byteVocabulary(family, options.spareTokens);
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
      ['llama.attention.head_count_kv', u32(keyHeads)],
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
  for (const { name, shape, type } of tensors) {
    head.string(name);
    head.u32(shape.length);
    for (const size of shape) head.u64(size);
    head.u32(TENSOR_TYPES[type]);
    head.u64(offset);
    offset = aligned(offset + sizeOf(type, shape));
  }
  head.pad();
  yield head.finish();
  for (const { data } of tensors) {
    const bytes = data();
    yield bytes;
    yield new Uint8Array(aligned(bytes.length) - bytes.length);
  }
}

interface Tensor {
  readonly name: string;
  /** Length of a row first. */
  readonly shape: readonly number[];
  readonly type: keyof typeof TENSOR_TYPES;
  readonly data: () => Uint8Array;
}

/** Bytes of so many values of this type. */
function sizeOf(type: keyof typeof TENSOR_TYPES, shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1) * (BLOCK_BYTES[type] / BLOCK);
}

function tensorsOf(options: RandomModelOptions, { tokens }: { readonly tokens: readonly string[] }): Tensor[] {
  const { seed, layers, width, heads, keyHeads = heads, hidden, weights, family, repeats = false } = options;
  // Variance chosen so that activations neither grow nor vanish over the layers.
  const valuesOf = (name: string, row: number, length: number) => {
    const random = randomFor(seed, name);
    return Float32Array.from(
      { length },
      () => ((random.next() + random.next() + random.next() - 1.5) * 2) / Math.sqrt(row),
    );
  };
  const periods = new Map<number, Uint8Array>();
  const repeated = (name: string, shape: readonly [row: number, rows: number]): Uint8Array => {
    const [row] = shape;
    const period = periods.get(row) ?? WRITERS[weights](valuesOf('period', row, PERIOD_BLOCKS * BLOCK));
    periods.set(row, period);
    const start = Math.floor(randomFor(seed, name).next() * PERIOD_BLOCKS) * BLOCK_BYTES[weights];
    const bytes = new Uint8Array(sizeOf(weights, shape));
    for (let at = 0, from = start; at < bytes.length; from = 0) {
      const part = period.subarray(from, from + bytes.length - at);
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  };
  /** `first`: the first value of each row. */
  const matrix = (name: string, row: number, rows: number, first?: (row: number) => number): Tensor => {
    const shape = [row, rows] as const;
    const data = () => {
      if (repeats) return repeated(name, shape);
      const values = valuesOf(name, row, row * rows);
      for (let i = 0; first && i < rows; i += 1) values[i * row] = first(i);
      return WRITERS[weights](values);
    };
    return { name, shape, type: weights, data };
  };
  const ones = (name: string): Tensor => ({
    name,
    shape: [width],
    type: 'F32',
    data: () => new Uint8Array(new Float32Array(width).fill(1).buffer),
  });
  const keys = (width / heads) * keyHeads;
  const layer = (i: number): Tensor[] => [
    ones(`blk.${i}.attn_norm.weight`),
    matrix(`blk.${i}.attn_q.weight`, width, width),
    ...['k', 'v'].map((part) => matrix(`blk.${i}.attn_${part}.weight`, width, keys)),
    matrix(`blk.${i}.attn_output.weight`, width, width),
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
export function byteVocabulary({ controls, added = [], end }: ModelFamily = CHATML_FAMILY, spare = 0) {
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad && byte < 0x100);
  let next = 0x100;
  const letters = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
  const plain = [...letters, 'Ġa'];
  const spares = Array.from({ length: spare }, (_, i) => `t${i}`);
  const tokens = [...plain, ...controls, ...added, ...spares];
  const types = [...plain.map(() => 1), ...controls.map(() => 3), ...added.map(() => 4), ...spares.map(() => 1)];
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
