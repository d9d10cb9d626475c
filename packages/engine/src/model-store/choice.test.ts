import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failsWith } from '../test/scene.ts';
import { chooseModel, partsOf } from './choice.ts';
import type { Wanted } from './reference.ts';

const repository = { owner: 'o', name: 'r', revision: 'main' };

function choose(paths: readonly string[], wanted: Wanted | string): readonly string[] {
  const asked: Wanted = typeof wanted === 'string' ? { kind: 'quant', quant: wanted } : wanted;
  return chooseModel(
    paths.map((path) => ({ path })),
    asked,
    repository,
  ).map(({ path }) => path);
}

const usual = ['Q2_K', 'Q2_K_L', 'Q4_K_M', 'Q4_K_S', 'BF16', 'f16'].map((quant) => `m-${quant}.gguf`);
usual.push('mmproj-m-F16.gguf');

describe('the files of a model', () => {
  it('are found by a quantisation, whichever way it is written, whole words first', () => {
    assert.deepEqual(choose(usual, 'q4_k_m'), ['m-Q4_K_M.gguf']);
    assert.deepEqual(choose(usual, 'Q2_K'), ['m-Q2_K.gguf']);
    assert.deepEqual(choose(usual, 'F16'), ['m-f16.gguf']);
    assert.deepEqual(choose(['m.Q8_0.gguf', 'm.Q4_0.gguf'], 'Q8_0'), ['m.Q8_0.gguf']);
    assert.deepEqual(choose(['m-iq4xs.gguf', 'm-q8.gguf'], 'q4x'), ['m-iq4xs.gguf']);
    assert.deepEqual(choose(['Q4_K_M/m.gguf', 'Q8_0/m.gguf'], 'Q8_0'), ['Q8_0/m.gguf']);
  });

  it('are never guessed: a list says what there is', () => {
    assert.throws(() => choose(usual, 'Q4_K'), failsWith('ambiguous', /m-Q4_K_M\.gguf, m-Q4_K_S\.gguf$/));
    assert.throws(
      () => choose(usual, 'Q6_K'),
      failsWith('not-found', /no GGUF file with Q6_K in its name; there are: m-BF16/),
    );
    assert.throws(() => choose([], 'Q6_K'), failsWith('not-found', /no GGUF files/));
    const many = Array.from({ length: 500 }, (_, at) => `m${at}-Q4_0.gguf`);
    assert.throws(() => choose(many, 'Q4_0'), failsWith('ambiguous', /^.{0,500} and 480 more$/));
  });

  it('are the only ones, or the usual ones, when nothing is said', () => {
    assert.deepEqual(choose(['m-Q8_0.gguf', 'mmproj-m.gguf'], { kind: 'any' }), ['m-Q8_0.gguf']);
    assert.deepEqual(choose(usual, { kind: 'any' }), ['m-Q4_K_M.gguf']);
    assert.throws(
      () => choose(['m-Q8_0.gguf', 'm-Q6_K.gguf'], { kind: 'any' }),
      failsWith('ambiguous', /m-Q6_K\.gguf, m-Q8_0/),
    );
    assert.throws(() => choose(['a-Q4_K_M.gguf', 'b-Q4_K_M.gguf'], { kind: 'any' }), failsWith('ambiguous'));
  });

  it('are all parts of a split one, in order', () => {
    const parts = ['m-Q8_0-00002-of-00003.gguf', 'm-Q8_0-00003-of-00003.gguf', 'm-Q8_0-00001-of-00003.gguf'];
    assert.deepEqual(choose([...parts, 'm-Q4_0.gguf'], 'Q8_0'), [...parts].sort());
    assert.deepEqual(choose(parts, { kind: 'any' }), [...parts].sort());
    assert.throws(
      () => choose(parts.slice(1), 'Q8_0'),
      failsWith('not-found', /parts of m-Q8_0-00001-of-00003\.gguf are missing/),
    );
  });

  it('are told from one part alone', () => {
    assert.deepEqual(partsOf('m.gguf'), ['m.gguf']);
    assert.deepEqual(partsOf('d/m-00002-of-00002.gguf'), ['d/m-00001-of-00002.gguf', 'd/m-00002-of-00002.gguf']);
    for (const odd of ['m-00003-of-00002.gguf', 'm-00000-of-00002.gguf', 'm-00001-of-99999.gguf']) {
      assert.deepEqual(partsOf(odd), [odd]);
    }
  });

  it('are found quickly in a list that is made to be slow', () => {
    const parts = Array.from({ length: 100_000 }, (_, at) => `${at}-Q4_0-00001-of-01000.gguf`);
    const startedAt = performance.now();
    assert.throws(() => choose(parts, 'Q4_0'), failsWith('ambiguous'));
    // 0.4 s on a busy machine; minutes if it were quadratic.
    assert.ok(performance.now() - startedAt < 10_000);
  });
});
