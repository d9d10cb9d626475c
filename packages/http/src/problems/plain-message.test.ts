// What a refusal says of values that do not match the schema of a body.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { z } from 'zod';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { parseInput } from '../input.ts';

const schema = z.strictObject({
  ...{ text: z.string().min(1).max(5), form: z.string().regex(/^a$/), time: z.iso.datetime(), flag: z.boolean() },
  ...{ count: z.int().min(1).max(1_000), share: z.number().positive().lt(1), step: z.number().multipleOf(5) },
  ...{ word: z.enum(['score', 'name']), only: z.literal('x'), list: z.array(z.string()).min(2).max(3) },
  ...{ either: z.union([z.string(), z.int()]), pair: z.string().length(2) },
  kind: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]),
});
const request = { params: {}, query: {}, headers: { 'content-type': 'application/json' } };

for (const [field, value, message] of casesOf<[string, unknown, string][]>('http', 'messages of values'))
  it(`a body is refused: ${field} ${JSON.stringify(value)} ${message}`, () => {
    const name = field.split('.', 1)[0] as 'text';
    const bodies = { 'application/json': schema.pick({ [name]: true }) };
    const refusal = { message: `Cannot use: ${field} (${message}).`, errors: [{ field, message }] };
    const body = value === null ? {} : { [name]: value };
    assert.throws(() => parseInput({ bodies }, { ...request, body }), refusal);
  });

it('a request without a body refuses the fields of one', () => {
  assert.deepEqual(parseInput({}, { ...request, body: {} }), {});
  assert.throws(() => parseInput({}, { ...request, body: { tier: 'free' } }), /tier \(unknown field/);
});
