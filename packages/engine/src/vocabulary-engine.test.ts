// A vocabulary without weights beside the whole engine, and vocabularies of strangers.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tinyChatModel as file } from '@strata/testnet';
import fc from 'fast-check';
import {
  type ChatPrompt,
  type Engine,
  openVocabulary,
  readVocabulary,
  startLlamaEngine,
  type Vocabulary,
  type VocabularyOptions,
  VocabularySpare,
} from './index.ts';
import { ggufWith } from './test/gguf-file.ts';

let directory: string;
let engine: Engine;
let vocabulary: Vocabulary & AsyncDisposable;
before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strata-vocabulary-'));
  const small = path.join(directory, 'small.gguf');
  await writeFile(small, (await readVocabulary(file)).bytes);
  engine = await startLlamaEngine({ file, slots: 1, threads: 1, gpu: false });
  vocabulary = await openVocabulary(small);
});
after(async () => {
  await vocabulary?.[Symbol.asyncDispose]();
  await engine?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('What is DMARC?', '<|im_end|>', 'a<|im_start|>system\n', '\u0000', '日本語 ünï', '  \n\t ', ''),
);
const anyChat: fc.Arbitrary<ChatPrompt> = fc.record({
  messages: fc.array(
    fc.record({ role: fc.constantFrom('system', 'developer', 'user', 'assistant'), content: anyText }),
    { minLength: 1, maxLength: 5 },
  ),
  tools: fc.constantFrom([], [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }]),
});
const user = (content: string): ChatPrompt => ({ messages: [{ role: 'user', content }], tools: [] });

describe('a vocabulary without weights', () => {
  it('lets so many calls wait, and refuses the rest at once', async () => {
    const calls = await Promise.allSettled(Array.from({ length: 1_100 }, () => vocabulary.tokenize('a')));
    const refused = calls.filter(({ status }) => status === 'rejected');
    assert.equal(refused.length, 1_100 - 1_024);
    assert.ok((await vocabulary.tokenize('a')).length > 0);
  });

  it('reads and writes every text as the whole engine does', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.boolean(), async (text, hasControl) => {
        const tokens = await engine.tokenize(text, { hasControl });
        assert.deepEqual(await vocabulary.tokenize(text, { hasControl }), tokens);
        assert.equal(await vocabulary.detokenize(tokens), await engine.detokenize(tokens));
      }),
      { numRuns: 150 },
    );
    const any = fc.array(fc.nat(1_023), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(any, async (tokens) =>
        assert.equal(await vocabulary.detokenize(tokens), await engine.detokenize(tokens)),
      ),
      { numRuns: 100 },
    );
  });

  it('writes every conversation as the whole engine does', async () => {
    await fc.assert(
      fc.asyncProperty(anyChat, async (chat) =>
        assert.deepEqual(await vocabulary.render(chat), await engine.render(chat)),
      ),
      { numRuns: 100 },
    );
  });

  it('is opened from the model file too', async () => {
    await using whole = await openVocabulary(file);
    assert.deepEqual(await whole.render(user('Hi')), await engine.render(user('Hi')));
  });

  it('says of itself what the whole engine says', async () => {
    await using opened = await openVocabulary(path.join(directory, 'small.gguf'));
    const { vocabularySize, longestToken, hasChatTemplate } = engine.info;
    assert.deepEqual(opened.facts, { vocabularySize, longestToken, hasChatTemplate });
  });

  it('is open at once where a process waits for it; where none does, one is started', async () => {
    await using spare = new VocabularySpare();
    const opened = async () => {
      const before = performance.now();
      await using one = await openVocabulary(file, { spare });
      assert.deepEqual(await one.tokenize('hello'), await engine.tokenize('hello'));
      return performance.now() - before;
    };
    // The first waits until the process runs, the second finds none.
    const [first, second] = [await opened(), await opened()];
    await new Promise((resolve) => setTimeout(resolve, 1_000 + 3 * Math.max(first, second)));
    const third = await opened();
    assert.ok(third < second / 2, `${third} ms, and ${second} ms without`);
  });

  it('serves many at once, each what it asked for', async () => {
    const texts = Array.from({ length: 50 }, (_, i) => `What is ${i}?`);
    const tokens = await Promise.all(texts.map((text) => vocabulary.tokenize(text)));
    assert.deepEqual(await Promise.all(tokens.map((each) => vocabulary.detokenize(each))), texts);
  });
});

describe('a vocabulary of a stranger', () => {
  let number = 0;
  async function openWith(template: string, options: VocabularyOptions = {}) {
    const to = path.join(directory, `strange-${++number}.gguf`);
    await writeFile(to, await ggufWith(file, { 'tokenizer.chat_template': template }));
    return openVocabulary(to, options);
  }
  const loop =
    '{% for i in range(9000) %}{% for j in range(9000) %}{% for k in range(9000) %}{% endfor %}{% endfor %}{% endfor %}';

  it('whose template runs on holds nobody up for long: it is ended, others are served, and it is asked again later', async () => {
    const template = `{% if messages[0].content == 'loop' %}${loop}{% endif %}fine`;
    await using strange = await openWith(template, { callMs: 1_000, restMs: 0 });
    const hung = assert.rejects(strange.render(user('loop')), { code: 'template-failed', message: /too long/ });
    const beside = strange.tokenize('hello');
    await hung;
    assert.deepEqual(await beside, await engine.tokenize('hello'));
    for (let i = 0; i < 2; i += 1) await assert.rejects(strange.render(user('loop')), { message: /too long/ });
    assert.deepEqual(await strange.render(user('Hi')), await engine.tokenize('fine'));
  });

  it('that fails again and again is left alone for a while, and still reads text', async () => {
    await using strange = await openWith(loop, { callMs: 300 });
    for (let i = 0; i < 3; i += 1) await assert.rejects(strange.render(user('a')), { message: /too long/ });
    const before = performance.now();
    for (let i = 0; i < 100; i += 1)
      await assert.rejects(strange.render(user('a')), { code: 'template-failed', message: /again and again/ });
    assert.ok(performance.now() - before < 1_000, 'no process is started for it');
    assert.deepEqual(await strange.tokenize('hello'), await engine.tokenize('hello'));
  });

  it('whose template writes without end is ended too', async () => {
    const doubling = `{% set ns = namespace(s='${'x'.repeat(64)}') %}{% for i in range(40) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}`;
    for (const template of [doubling, '{{ range(1000000000) | length }}']) {
      await using strange = await openWith(template, { callMs: 1_500 });
      await assert.rejects(strange.render(user('a')), { code: 'template-failed' });
      assert.deepEqual(await strange.tokenize('hello'), await engine.tokenize('hello'));
    }
  });

  it('that cannot be loaded is refused', async () => {
    const to = path.join(directory, 'odd.gguf');
    for (const texts of [{ 'tokenizer.ggml.model': 'nonsense' }, { 'tokenizer.ggml.tokens': 'none' }]) {
      await writeFile(to, await ggufWith(file, texts));
      await assert.rejects(openVocabulary(to), { code: 'model-unusable' });
    }
    await assert.rejects(openVocabulary(import.meta.filename), { code: 'model-unusable' });
  });

  it('tells what its template refuses, and nothing once it is closed', async () => {
    const strange = await openWith("{{ raise_exception('roles must alternate') }}");
    await assert.rejects(strange.render(user('a')), { code: 'template-failed', message: /roles must alternate/ });
    await strange[Symbol.asyncDispose]();
    await assert.rejects(strange.tokenize('a'), { code: 'crashed' });
  });
});
