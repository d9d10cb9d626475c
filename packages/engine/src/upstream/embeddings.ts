// Embeddings from an upstream.
import { z } from 'zod';
import { failed, invalid } from './errors.ts';
import type { Ask, UpstreamHttp } from './http.ts';

export interface Embedded {
  readonly vectors: Float32Array[];
  /** 0 if the server does not report it. */
  readonly promptTokens: number;
}

/** A batch size that servers accept, and whose response fits into memory. */
const MAX_INPUTS = 64;

const answer = z.object({
  data: z.array(z.object({ index: z.int().min(0).nullish(), embedding: z.array(z.number()).min(1) })),
  usage: z.object({ prompt_tokens: z.int().min(0).nullish() }).nullish(),
});

interface EmbedOptions extends Pick<Ask, 'signal'> {
  /** `/embeddings` by default. */
  readonly path?: string;
  readonly model: string;
  readonly inputs: readonly (string | readonly number[])[];
}

export async function embedAll(
  http: UpstreamHttp,
  { path = '/embeddings', model, inputs, signal }: EmbedOptions,
): Promise<Embedded> {
  const vectors: Float32Array[] = [];
  let promptTokens = 0;
  for (let from = 0; from < inputs.length; from += MAX_INPUTS) {
    const input = inputs.slice(from, from + MAX_INPUTS);
    // Numbers instead of base64: every server supports them.
    const body = { model, input, encoding_format: 'float' };
    const read = answer.safeParse(await http.json({ path, body, signal }));
    if (!read.success) throw invalid('invalid embeddings', read.error);
    const { data, usage } = read.data;
    for (const at of input.keys()) {
      const found = data.find(({ index }, i) => (index ?? i) === at);
      if (!found) throw failed('sent invalid embeddings: a vector is missing');
      vectors.push(unit(found.embedding));
    }
    promptTokens += usage?.prompt_tokens ?? 0;
  }
  const hasOneLength = vectors.every(({ length }) => length === vectors[0]?.length);
  if (!hasOneLength) throw failed('sent invalid embeddings: vectors differ in length');
  return { vectors, promptTokens };
}

/** Not every server returns vectors of length 1. */
function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (each) => (length > 0 ? each / length : each));
}
