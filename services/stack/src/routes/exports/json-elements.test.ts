// Elements of JSON lists, however their bytes arrive, and what is not such a list.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { elementsOf } from './json-elements.ts';

async function read(text: string, size: number): Promise<unknown[]> {
  const bytes = Buffer.from(text);
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  return (await Array.fromAsync(elementsOf(chunks(), 40))).map((element) => JSON.parse(element));
}

for (const [text, expected] of [
  ['[]', []],
  [
    ' { "domains" : [ "ä.com" , {"domain": "b]}", "x": [1, {}]},"c\\",\\\\"] }\n',
    ['ä.com', { domain: 'b]}', x: [1, {}] }, 'c",\\'],
  ],
  [`\ufeff["a"${' '.repeat(2_000)}]`, 'refused'],
  ['["a"', 'refused'],
  ['["a"] x', 'refused'],
  ['{"domains": "a"}', 'refused'],
  [`["${'x'.repeat(41)}"]`, 'refused'],
  ['', 'refused'],
] as const)
  it(`reads ${text.slice(0, 40)}`, async () => {
    for (const size of [1, 7, 10_000]) {
      if (expected === 'refused') await assert.rejects(read(text, size), { code: 'invalid_parameter' });
      else assert.deepEqual(await read(text, size), expected);
    }
  });
