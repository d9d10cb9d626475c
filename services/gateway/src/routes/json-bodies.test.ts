import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nestsDeeper } from './json-bodies.ts';

for (const [text, max, isDeeper] of [
  ['[[1],{"a":[2]}]', 3, false],
  ['[[1],{"a":[2]}]', 2, true],
  ['[]'.repeat(1_000), 1, false],
  ['['.repeat(201), 200, true],
  [String.raw`"[[[\"[[["`, 0, false],
  [String.raw`["\\",[1]]`, 1, true],
  [String.raw`["é[[\\\"[[",1]`, 1, false],
] as const)
  it(`the nesting of a JSON text is ${isDeeper ? '' : 'not '}deeper than ${max}, outside strings: ${text.slice(0, 20)}`, () =>
    assert.equal(nestsDeeper(new TextEncoder().encode(text), max), isDeeper));
