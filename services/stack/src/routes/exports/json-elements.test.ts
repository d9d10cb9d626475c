// Elements of JSON lists, however their bytes arrive, and what is not such a list.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { it } from 'node:test';
import { elementsOf } from './json-elements.ts';

const objects = ' {"domains" : [ "ä.com" , {"domain": "b]}", "x": [1, {}]},"c\\",\\\\"] }\n';
const [spaces, long] = [`\ufeff["a"${' '.repeat(2_000)}]`, `["${'x'.repeat(41)}"]`];
for (const [text, expected] of [
  ['[]', []],
  [objects, ['ä.com', { domain: 'b]}', x: [1, {}] }, 'c",\\']],
  ...[spaces, long, '["a"', '["a"] x', '["a"]}', '{"domains": ["a"]', '{"domains": "a"}', ''].map(
    (bad) => [bad, undefined] as const,
  ),
] as const)
  it(`reads ${text.slice(0, 40)}`, async () => {
    for (const size of [1, 7, 10_000]) {
      const bytes = Buffer.from(text);
      const length = Math.ceil(bytes.length / size);
      const chunks = Array.from({ length }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
      const read = Array.fromAsync(elementsOf(Readable.from(chunks), 40));
      if (expected)
        assert.deepEqual(
          (await read).map((element) => JSON.parse(element)),
          expected,
        );
      else await assert.rejects(read, { code: 'invalid_parameter' });
    }
  });
