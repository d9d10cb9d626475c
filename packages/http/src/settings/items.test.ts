import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { readEnvironment } from './environment.ts';
import { itemsOf } from './items.ts';

it('a setting of items reads values that are lists or have spaces, and names unknown items and invalid values', () => {
  const shape = { port: z.coerce.number().default(1), file: z.string().optional(), 'key-file': z.string().optional() };
  const tables = [z.object({ S: itemsOf(shape) }), z.object({ S: itemsOf(shape, { first: 'port' }) })];
  const cases = casesOf<[string, ...(object | string)[]][]>('http', 'settings of items');
  for (const [text, ...results] of cases)
    for (const [at, expected] of results.entries()) {
      const read = () => readEnvironment(tables[at] ?? z.object({}), { S: text }).S;
      if (typeof expected === 'string') assert.throws(read, { name: 'SettingsError', message: expected }, text);
      else assert.partialDeepStrictEqual(read(), expected, text);
    }
});
