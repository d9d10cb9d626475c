// Processes of vocabularies: started when they are asked, no more of them than wanted, and begun anew after a crash.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EngineError } from '@strata/engine';
import { Vocabularies } from './vocabularies.ts';

function scene(options: { readonly most?: number; readonly idleMs?: number } = {}) {
  const told: string[] = [];
  let failure: Error | undefined;
  let held: Promise<void> | undefined;
  const vocabularies = new Vocabularies(async (file) => {
    told.push(`open ${file}`);
    return {
      async tokenize() {
        await held;
        if (failure) throw failure;
        return [1];
      },
      detokenize: async () => '',
      render: async () => [1],
      facts: { vocabularySize: 2, longestToken: 1, hasChatTemplate: true },
      [Symbol.asyncDispose]: async () => void told.push(`close ${file}`),
    };
  }, options);
  return {
    told,
    vocabularies,
    of: (name: string) => vocabularies.of(name, async () => name),
    fail: (error: Error | undefined) => {
      failure = error;
    },
    hold: (until: Promise<void>) => {
      held = until;
    },
  };
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
    const { told, of, hold, vocabularies } = scene({ most: 1 });
    await using _all = vocabularies;
    const { promise, resolve } = Promise.withResolvers<void>();
    hold(promise);
    const working = [of('a').tokenize(''), of('b').tokenize('')];
    await of('c').render({ messages: [], tools: [] });
    assert.ok(!told.includes('close a') && !told.includes('close b'), told.join());
    resolve();
    await Promise.all(working);
    assert.equal(vocabularies.size, 1);
  });

  it('that failed one caller end when the calls of others are over', async () => {
    const { told, of, hold, fail, vocabularies } = scene();
    await using _all = vocabularies;
    const { promise, resolve } = Promise.withResolvers<void>();
    hold(promise);
    const beside = of('a').tokenize('');
    await new Promise((resolved) => setImmediate(resolved));
    hold(Promise.resolve());
    fail(new EngineError('model-unusable', 'too slow'));
    await assert.rejects(of('a').tokenize(''), /too slow/);
    assert.deepEqual(told, ['open a']);
    fail(undefined);
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
    // The sweep holds no process open: the test has to.
    const limit = setTimeout(() => assert.fail('it was not closed'), 5_000);
    while (vocabularies.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    clearTimeout(limit);
    assert.deepEqual(told, ['open a', 'close a']);
  });

  it('that crashed are begun anew by the next who asks; a template that refuses is no crash', async () => {
    const { told, of, fail, vocabularies } = scene();
    await using _all = vocabularies;
    fail(new EngineError('crashed', 'it died'));
    await assert.rejects(of('a').tokenize(''), /it died/);
    fail(undefined);
    await of('a').tokenize('');
    assert.deepEqual(told, ['open a', 'close a', 'open a']);
    fail(new EngineError('template-failed', 'no'));
    await assert.rejects(of('a').tokenize(''), /no/);
    fail(undefined);
    await of('a').tokenize('');
    assert.equal(told.length, 3);
  });
});
