import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nestsDeeper } from './json-nesting.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the nesting of a JSON text', () => {
  it('counts arrays and objects, wherever they are closed', () => {
    assert.equal(nestsDeeper(bytes('[[1],{"a":[2]}]'), 3), false);
    assert.equal(nestsDeeper(bytes('[[1],{"a":[2]}]'), 2), true);
    assert.equal(nestsDeeper(bytes('[]'.repeat(1_000)), 1), false);
    assert.equal(nestsDeeper(bytes('['.repeat(201)), 200), true);
  });

  it('does not count within texts, escaped quotes and backslashes included', () => {
    assert.equal(nestsDeeper(bytes(String.raw`"[[[\"[[["`), 0), false);
    assert.equal(nestsDeeper(bytes(String.raw`["\\",[1]]`), 1), true);
    assert.equal(nestsDeeper(bytes(String.raw`["é[[\\\"[[",1]`), 1), false);
  });
});
