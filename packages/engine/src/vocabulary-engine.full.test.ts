// Templates of strangers that run on or write without end: their processes are ended after real time.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { tinyChatModel as file } from '@strata/testnet';
import { openVocabulary, type VocabularyOptions } from './index.ts';
import { ggufWith, written } from './test/gguf-file.ts';
import { tinyEngine, user } from './test/tiny-engine.ts';

const nested = (depth: number): string =>
  depth === 0 ? '' : `{% for i${depth} in range(9000) %}${nested(depth - 1)}{% endfor %}`;
const LOOP = nested(3);

describe('a vocabulary of a stranger', () => {
  let hello: readonly number[];
  before(async () => {
    hello = await (await tinyEngine()).tokenize('hello');
  });
  const openWith = async (template: string, options: VocabularyOptions) =>
    openVocabulary(await written(await ggufWith(file, { 'tokenizer.chat_template': template })), options);

  it('whose template runs on delays nobody for long: its process is ended, others are served, and it is tried again', async () => {
    const template = `{% if messages[0].content == 'loop' %}${LOOP}{% endif %}fine`;
    await using strange = await openWith(template, { callMs: 1_000, restMs: 0 });
    const hung = assert.rejects(strange.render(user('loop')), { code: 'template-failed', message: /too long/ });
    const next = strange.tokenize('hello');
    await hung;
    assert.deepEqual(await next, hello);
    for (let i = 0; i < 2; i += 1) await assert.rejects(strange.render(user('loop')), { message: /too long/ });
    assert.deepEqual(await strange.render(user('Hi')), await (await tinyEngine()).tokenize('fine'));
  });

  it('that fails repeatedly is not tried for a while, and still tokenizes', async () => {
    await using strange = await openWith(LOOP, { callMs: 300 });
    for (let i = 0; i < 3; i += 1) await assert.rejects(strange.render(user('a')), { message: /too long/ });
    // Not tried: the calls take no time, far less than the hundred seconds and more of as many processes.
    const startedAt = performance.now();
    for (let i = 0; i < 100; i += 1)
      await assert.rejects(strange.render(user('a')), { code: 'template-failed', message: /again and again/ });
    assert.ok(performance.now() - startedAt < 10_000, 'no process is started for it');
    assert.deepEqual(await strange.tokenize('hello'), hello);
  });

  it('whose template writes without end is ended too', async () => {
    const doubling = `{% set ns = namespace(s='${'x'.repeat(64)}') %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}`;
    for (const template of [doubling, '{{ range(1000000000) | length }}']) {
      await using strange = await openWith(template, { callMs: 1_500 });
      await assert.rejects(strange.render(user('a')), { code: 'template-failed' });
      assert.deepEqual(await strange.tokenize('hello'), hello);
    }
  });
});
