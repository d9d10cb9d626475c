// Processes of vocabularies: started when they are asked, no more of them than wanted, and begun anew after a crash.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EngineError } from '@strata/engine';
import { until } from '../../../../tests/support/until.ts';
import { Vocabularies, type VocabulariesOptions } from './vocabularies.ts';

function scene(options: VocabulariesOptions = {}) {
  const told: string[] = [];
  /** What calls of `tokenize` wait for, and how they fail. */
  const next: { held?: Promise<void> | undefined; failure?: Error | undefined } = {};
  const vocabularies = new Vocabularies(async (file) => {
    told.push(`open ${file}`);
    return {
      async tokenize() {
        await next.held;
        if (next.failure) throw next.failure;
        return [1];
      },
      detokenize: async () => '',
      render: async () => [1],
      facts: { vocabularySize: 2, longestToken: 1, hasChatTemplate: true },
      [Symbol.asyncDispose]: async () => void told.push(`close ${file}`),
    };
  }, options);
  return { told, next, vocabularies, of: (name: string) => vocabularies.of(name, async () => name) };
}

describe('vocabularies', () => {
  it('are opened when they are first asked, and once', async () => {
    const { told, of, vocabularies } = scene();
    const one = of('a');
    assert.deepEqual(told, []);
    await Promise.all([one.tokenize(''), one.render({ messages: [], tools: [] }), of('a').detokenize([])]);
    assert.deepEqual(told, ['open a']);
    await vocabularies[Symbol.asyncDispose]();
    assert.deepEqual(told, ['open a', 'close a']);
  });

  it('give way to others beyond the bound, the one unused for the longest time first', async () => {
    const { told, of, vocabularies } = scene({ most: 2 });
    await using _all = vocabularies;
    for (const name of ['a', 'b', 'a', 'c']) await of(name).tokenize('');
    assert.equal(vocabularies.size, 2);
    assert.deepEqual(told, ['open a', 'open b', 'open c', 'close b']);
    await of('b').tokenize('');
    assert.deepEqual(told.slice(4).sort(), ['close a', 'open b']);
  });

  it('that are at work are not closed for others; what is too many ends with its work', async () => {
    const { told, of, next, vocabularies } = scene({ most: 1 });
    await using _all = vocabularies;
    const { promise, resolve } = Promise.withResolvers<void>();
    next.held = promise;
    const working = [of('a').tokenize(''), of('b').tokenize('')];
    await of('c').render({ messages: [], tools: [] });
    assert.ok(!told.includes('close a') && !told.includes('close b'), told.join());
    resolve();
    await Promise.all(working);
    assert.equal(vocabularies.size, 1);
  });

  it('that failed one caller end when the calls of others are over', async () => {
    const { told, of, next, vocabularies } = scene();
    await using _all = vocabularies;
    const { promise, resolve } = Promise.withResolvers<void>();
    next.held = promise;
    const beside = of('a').tokenize('');
    await new Promise((resolved) => setImmediate(resolved));
    Object.assign(next, { held: undefined, failure: new EngineError('model-unusable', 'too slow') });
    await assert.rejects(of('a').tokenize(''), /too slow/);
    assert.deepEqual(told, ['open a']);
    next.failure = undefined;
    await of('a').tokenize('');
    assert.deepEqual(told, ['open a', 'open a']);
    resolve();
    await beside;
    assert.deepEqual(told, ['open a', 'open a', 'close a']);
  });

  it('that are closed are not opened again: nobody would end them', async () => {
    const { told, of, vocabularies } = scene();
    await of('a').facts();
    await vocabularies[Symbol.asyncDispose]();
    await assert.rejects(of('a').tokenize(''), /closed/);
    await assert.rejects(of('b').facts(), /closed/);
    assert.deepEqual(told, ['open a', 'close a']);
  });

  it('that nobody asks are ended', async () => {
    const { told, of, vocabularies } = scene({ idleMs: 20 });
    await using _all = vocabularies;
    await of('a').tokenize('');
    await until(() => vocabularies.size === 0);
    assert.deepEqual(told, ['open a', 'close a']);
  });

  it('that crashed are begun anew by the next who asks; a template that refuses is no crash', async () => {
    const { told, of, next, vocabularies } = scene();
    await using _all = vocabularies;
    for (const code of ['crashed', 'template-failed'] as const) {
      next.failure = new EngineError(code, 'it failed');
      await assert.rejects(of('a').tokenize(''), /it failed/);
      next.failure = undefined;
      await of('a').tokenize('');
      assert.deepEqual(told, ['open a', 'close a', 'open a']);
    }
  });
});
