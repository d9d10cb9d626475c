// Seeded random values that are valid for the frame schemas.
import type { z } from 'zod';
import { randomFrom } from '../../../../../tests/support/random.ts';
import { Frame } from '../protocol/frame.ts';

export type Draw = (below: number) => number;

export function drawFrom(seed: number): Draw {
  const random = randomFrom(seed);
  return (below) => Math.floor(random() * below);
}

const HEX = '0123456789abcdef';
const TEXTS = ['', 'a', 'llama.cpp', 'Grüße', '日本', '\u{1f600}', '\ufeffmark', 'line\nline'];
const EDGES = [0, 1, 127, 128, 2 ** 21 - 1, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, -0.5, -1e-300];

/** Draws values until the schema accepts one. */
export function drawn<Schema extends z.ZodType>(schema: Schema, draw: Draw): z.infer<Schema> {
  for (let tries = 0; tries < 10_000; tries += 1) {
    const { success, data } = schema.safeParse(candidate(schema as unknown as z.core.$ZodTypes, draw));
    if (success) return data;
  }
  throw new Error(`nothing was drawn that a schema of kind ${schema.type} allows`);
}

export function randomFrame(draw: Draw, kind: Frame['kind']): Frame {
  const schema = Frame.options.find(({ shape }) => shape.kind.value === kind) as z.ZodType<Frame>;
  const frame = drawn(schema, draw);
  // The only numbers that are encoded in 32 bits.
  return frame.kind === 'embedded' ? { ...frame, vector: frame.vector.map(Math.fround) } : frame;
}

function candidate(schema: z.core.$ZodTypes, draw: Draw): unknown {
  const one = <T>(...of: readonly T[]) => of[draw(of.length)] as T;
  const list = (max: number, make: () => unknown) => Array.from({ length: one(0, 1, draw(max + 1)) }, make);
  const { def } = schema._zod;
  switch (def.type) {
    case 'object': {
      const shape = Object.entries(def.shape as Record<string, z.ZodType>);
      const kept = shape.filter(([, each]) => each.type !== 'optional' || draw(2) === 0);
      return Object.fromEntries(kept.map(([name, each]) => [name, drawn(each, draw)]));
    }
    case 'optional':
    case 'readonly':
      return drawn(def.innerType as z.ZodType, draw);
    case 'array':
      return list(10, () => drawn(def.element as z.ZodType, draw));
    case 'enum':
      return one(...Object.values(def.entries));
    case 'literal':
      return one(...def.values);
    case 'boolean':
      return draw(2) === 0;
    case 'string':
      return one(one(...TEXTS), Array.from({ length: 64 }, () => HEX[draw(16)]).join(''));
    case 'number':
      return one(one(...EDGES), draw(2 ** 21), draw(2 ** 32), draw(2 ** 52), draw(1_000) / 1_000 - 0.5);
    default: {
      const bytes = Uint8Array.from({ length: one(16, 64, draw(300)) }, () => draw(256));
      const numbers = [() => draw(2 ** 21), () => draw(101), () => Math.fround(draw(100_000) / 1_001)];
      return one<unknown>(bytes, list(50, one(...numbers)));
    }
  }
}
