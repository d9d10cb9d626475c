import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { failsWith } from '../test/scene.ts';
import { formatReference, parseReference, type Wanted } from './reference.ts';
import { chooseModel, partsOf } from './select-files.ts';

const repository = { owner: 'bartowski', name: 'Llama-3.2-1B-Instruct-GGUF', revision: 'main' };
const base = 'hf:bartowski/Llama-3.2-1B-Instruct-GGUF';

it('a reference may be a local file', () => {
  for (const path of ['model.gguf', './a b/Modell ä.GGUF', '/var/models/x.gguf', 'C:\\models\\x.gguf', '../x.gguf'])
    assert.deepEqual(parseReference(path), { kind: 'local', path });
});

it('a reference may be a location on a hub, with a revision or without', () => {
  for (const [suffix, revision, wanted] of casesOf<[string, string, Wanted][]>('engine', 'references of hubs')) {
    const reference = base + suffix;
    const expected = { kind: 'hub', repository: { ...repository, revision }, wanted };
    assert.deepEqual(parseReference(reference), expected, reference);
    // Written as it was read.
    if (wanted.kind === 'file') assert.equal(formatReference(expected.repository, wanted.path), reference);
  }
});

it('a reference is refused when it is anything else', () => {
  const refused = casesOf<string[]>('engine', 'invalid references').flatMap((row) => row.split('|'));
  const long = [`hf:${'a'.repeat(97)}/b`, `hf:a/b/${'c'.repeat(201)}.gguf`, `hf:a/b/${'c/'.repeat(300)}d.gguf`];
  for (const reference of [...refused, ...long, `hf:${'a'.repeat(1_000_000)}`])
    assert.throws(() => parseReference(reference), failsWith('bad-reference'), reference.slice(0, 80));
});

it('a reference is shown short and printable in the message', () => {
  const isShort = ({ message }: Error) => message.length < 500 && !message.includes('\u001b');
  assert.throws(() => parseReference(`hf:\u001b[31m${'x'.repeat(5_000)}`), isShort);
});

/** The files of `quant`; without it, those of the usual or only quantisation of the list. */
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
    for (const [paths, quant, ...expected] of casesOf<[string[], string | null, ...string[]][]>(
      'engine',
      'chosen files',
    ))
      assert.deepEqual(choose(paths, quant ?? undefined), expected);
  });

  it('are never guessed: a list shows what there is', () => {
    const many = Array.from({ length: 500 }, (_, at) => `m${at}-Q4_0.gguf`);
    for (const [paths, quant, code, message] of [
      [usual, 'Q4_K', 'ambiguous', /m-Q4_K_M\.gguf, m-Q4_K_S\.gguf$/],
      [usual, 'Q6_K', 'not-found', /no GGUF file with Q6_K in its name; available: m-BF16/],
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
