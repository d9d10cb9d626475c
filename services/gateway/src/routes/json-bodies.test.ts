import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { nestsDeeper } from './json-bodies.ts';

for (const [text, max, isDeeper] of casesOf<readonly (readonly [string, number, boolean])[]>('gateway', 'nesting'))
  it(`the nesting of a JSON text is ${isDeeper ? '' : 'not '}deeper than ${max}, outside strings: ${text.slice(0, 20)}`, () =>
    assert.equal(nestsDeeper(new TextEncoder().encode(text), max), isDeeper));
