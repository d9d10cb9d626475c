import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failsWith } from '../test/scene.ts';
import { chooseModel, partsOf } from './choice.ts';

const repository = { owner: 'o', name: 'r', revision: 'main' };

/** The files of a quantisation, or of whichever one a list has where none is named. */
function choose(paths: readonly string[], quant?: string): readonly string[] {
  const wanted = quant === undefined ? ({ kind: 'any' } as const) : ({ kind: 'quant', quant } as const);
  const files = paths.map((path) => ({ path }));
  return chooseModel(files, wanted, repository).map(({ path }) => path);
}

const usual = ['Q2_K', 'Q2_K_L', 'Q4_K_M', 'Q4_K_S', 'BF16', 'f16'].map((quant) => `m-${quant}.gguf`);
usual.push('mmproj-m-F16.gguf');
const parts = ['m-Q8_0-00002-of-00003.gguf', 'm-Q8_0-00003-of-00003.gguf', 'm-Q8_0-00001-of-00003.gguf'];

describe('the files of a model', () => {
  it('are found by a quantisation however it is written, complete terms first; without one, the usual or only one', () => {
    for (const [paths, quant, ...expected] of [
      [usual, 'q4_k_m', 'm-Q4_K_M.gguf'],
      [usual, 'Q2_K', 'm-Q2_K.gguf'],
      [usual, 'F16', 'm-f16.gguf'],
      [['m.Q8_0.gguf', 'm.Q4_0.gguf'], 'Q8_0', 'm.Q8_0.gguf'],
      [['m-iq4xs.gguf', 'm-q8.gguf'], 'q4x', 'm-iq4xs.gguf'],
      [['Q4_K_M/m.gguf', 'Q8_0/m.gguf'], 'Q8_0', 'Q8_0/m.gguf'],
      [['m-Q8_0.gguf', 'mmproj-m.gguf'], undefined, 'm-Q8_0.gguf'],
      [usual, undefined, 'm-Q4_K_M.gguf'],
      [[...parts, 'm-Q4_0.gguf'], 'Q8_0', ...[...parts].sort()],
      [parts, undefined, ...[...parts].sort()],
    ] as const)
      assert.deepEqual(choose(paths, quant), expected);
  });

  it('are never guessed: a list shows what there is', () => {
    const many = Array.from({ length: 500 }, (_, at) => `m${at}-Q4_0.gguf`);
    for (const [paths, quant, code, message] of [
      [usual, 'Q4_K', 'ambiguous', /m-Q4_K_M\.gguf, m-Q4_K_S\.gguf$/],
      [usual, 'Q6_K', 'not-found', /no GGUF file with Q6_K in its name; there are: m-BF16/],
      [[], 'Q6_K', 'not-found', /no GGUF files/],
      [many, 'Q4_0', 'ambiguous', /^.{0,500} and 480 more$/],
      [['m-Q8_0.gguf', 'm-Q6_K.gguf'], undefined, 'ambiguous', /m-Q6_K\.gguf, m-Q8_0/],
      [['a-Q4_K_M.gguf', 'b-Q4_K_M.gguf'], undefined, 'ambiguous', /./],
      [parts.slice(1), 'Q8_0', 'not-found', /parts of m-Q8_0-00001-of-00003\.gguf are missing/],
    ] as const)
      assert.throws(() => choose(paths, quant), failsWith(code, message));
  });

  it('are known from one part alone', () => {
    assert.deepEqual(partsOf('d/m-00002-of-00002.gguf'), ['d/m-00001-of-00002.gguf', 'd/m-00002-of-00002.gguf']);
    for (const single of ['m.gguf', 'm-00003-of-00002.gguf', 'm-00000-of-00002.gguf', 'm-00001-of-99999.gguf'])
      assert.deepEqual(partsOf(single), [single]);
  });

  it('are found quickly in a list that is made to be slow', () => {
    const startedAt = performance.now();
    const slow = Array.from({ length: 100_000 }, (_, at) => `${at}-Q4_0-00001-of-01000.gguf`);
    assert.throws(() => choose(slow, 'Q4_0'), failsWith('ambiguous'));
    // 0.4 s on a busy machine; minutes if it were quadratic.
    assert.ok(performance.now() - startedAt < 10_000);
  });
});
