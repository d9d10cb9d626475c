// Models with the layers and the vocabulary of real ones: what their weights say is noise, what they cost is real.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type RandomModelOptions, randomModelParts } from '@strata/testnet';
import { setting } from '../measure.ts';

export interface LargeModel {
  readonly layers: number;
  readonly width: number;
  readonly weights: RandomModelOptions['weights'];
  readonly pooling?: RandomModelOptions['pooling'];
}

/** Of Llama 3. */
const SPARE_TOKENS = setting('TOKENS', 128_000);
const HEAD = 128;

/** Writes the file; returns its path. */
export async function writeLargeModel(
  directory: string,
  { layers, width, weights, pooling }: LargeModel,
): Promise<string> {
  const name = `l${layers}-w${width}-${weights}`;
  const heads = width / HEAD;
  const size = { layers, width, heads, keyHeads: Math.max(1, heads / 4), hidden: width * 3.5 };
  const file = path.join(directory, `${name}.gguf`);
  const more = { spareTokens: SPARE_TOKENS, repeats: true, context: 8_192, ...(pooling ? { pooling } : {}) };
  await writeFile(file, randomModelParts({ seed: 1, name, ...size, weights, ...more }));
  return file;
}

/** `<|im_end|>`, which ends an answer: after the letters, one merge and `<|im_start|>`. */
export const END_TOKEN = 258;
