// Embeddings from an upstream.
import { z } from 'zod';
import { EngineError } from '../engine.ts';
import type { UpstreamHttp } from './client.ts';

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

interface EmbedOptions {
  readonly model: string;
  readonly inputs: readonly (string | readonly number[])[];
  readonly signal: AbortSignal;
}

export async function embedAll(http: UpstreamHttp, { model, inputs, signal }: EmbedOptions): Promise<Embedded> {
  const vectors: Float32Array[] = [];
  let promptTokens = 0;
  for (let from = 0; from < inputs.length; from += MAX_INPUTS) {
    const input = inputs.slice(from, from + MAX_INPUTS);
    // Numbers instead of base64: every server supports them.
    const body = { model, input, encoding_format: 'float' };
    const { data, usage } = read(await http.json({ path: '/embeddings', body, signal }));
    const ordered = input.map((_, at) => data.find(({ index }, i) => (index ?? i) === at));
    for (const each of ordered) {
      if (!each) throw unreadable('a vector is missing');
      vectors.push(unit(each.embedding));
    }
    promptTokens += usage?.prompt_tokens ?? 0;
  }
  if (vectors.some(({ length }) => length !== vectors[0]?.length)) throw unreadable('vectors differ in length');
  return { vectors, promptTokens };
}

function read(value: unknown): z.output<typeof answer> {
  const { success, data, error } = answer.safeParse(value);
  if (success) return data;
  throw unreadable(`at ${error.issues[0]?.path.join('.') || 'the top'}`);
}

/** Not every server returns vectors of length 1. */
function unit(numbers: readonly number[]): Float32Array {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (each) => (length > 0 ? each / length : each));
}

function unreadable(what: string): EngineError {
  return new EngineError('upstream-failed', `the upstream sent invalid embeddings: ${what}`);
}
