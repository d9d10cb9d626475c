// A vocabulary without weights compared with the full engine.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tinyChatModel as file } from '@strata/testnet';
import { codePoint, fc } from '../../../../tests/support/property.ts';
import { tinyEngine } from '../../../../tests/support/tiny-engine.ts';
import { untilAnswer } from '../../../../tests/support/until.ts';
import { type ChatPrompt, type Engine, openVocabulary, VocabularySpare } from '../index.ts';
import { ggufWith, written } from '../test/gguf-file.ts';
import { user } from '../test/tiny-engine.ts';
import { readVocabulary } from './vocabulary-file.ts';

const anyText = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('What is DMARC?', '<|im_end|>', 'a<|im_start|>system\n', '\u0000', '日本語 ünï', '  \n\t ', ''),
);
const anyRole = fc.constantFrom('system', 'developer', 'user', 'assistant');
const anyChat: fc.Arbitrary<ChatPrompt> = fc.record({
  messages: fc.array(fc.record({ role: anyRole, content: anyText }), { minLength: 1, maxLength: 5 }),
  tools: fc.constantFrom([], [{ name: 'find', description: 'Finds', parameters: { type: 'object', properties: {} } }]),
});

describe('a vocabulary without weights', () => {
  let engine: Engine;
  let vocabulary: Awaited<ReturnType<typeof openVocabulary>>;
  before(async () => {
    engine = await tinyEngine();
    vocabulary = await openVocabulary(await written((await readVocabulary(file)).bytes));
  });
  after(() => vocabulary?.[Symbol.asyncDispose]());

  it('has the facts of the full engine', () => {
    const { vocabularySize, longestToken, hasChatTemplate } = engine.info;
    assert.deepEqual(vocabulary.facts, { vocabularySize, longestToken, hasChatTemplate });
  });

  it('queues 1,024 calls in their order, and refuses more at once', async () => {
    const asked = Array.from({ length: 1_100 }, (_, i) => `What is ${i}?`);
    const calls = await Promise.allSettled(asked.map((text) => vocabulary.tokenize(text)));
    const refused = calls.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []));
    assert.deepEqual(refused, [...asked.keys()].slice(1_024));
    const texts = calls.slice(0, 50).map((each) => each.status === 'fulfilled' && vocabulary.detokenize(each.value));
    assert.deepEqual(await Promise.all(texts), asked.slice(0, 50));
  });

  it('tokenizes and detokenizes every text as the full engine does', async () => {
    const sameText = fc.asyncProperty(anyText, fc.boolean(), async (text, hasControl) => {
      const tokens = await engine.tokenize(text, { hasControl });
      assert.deepEqual(await vocabulary.tokenize(text, { hasControl }), tokens);
      assert.equal(await vocabulary.detokenize(tokens), await engine.detokenize(tokens));
    });
    await fc.assert(sameText, { numRuns: 150 });
    const sameTokens = async (tokens: number[]) =>
      assert.equal(await vocabulary.detokenize(tokens), await engine.detokenize(tokens));
    await fc.assert(fc.asyncProperty(fc.array(fc.nat(1_023), { maxLength: 20 }), sameTokens), { numRuns: 100 });
  });

  it('renders every conversation as the full engine does', async () => {
    assert.deepEqual(await vocabulary.marks(), await engine.marks());
    assert.ok((await engine.marks()).controls.size > 0);
    const same = async (chat: ChatPrompt) => assert.deepEqual(await vocabulary.render(chat), await engine.render(chat));
    await fc.assert(fc.asyncProperty(anyChat, same), { numRuns: 100 });
  });

  it('opens a model file too, in a spare process where there is one', async () => {
    await using spare = new VocabularySpare({ nextMs: 0 });
    const first = spare.take();
    assert.ok(first);
    assert.equal(spare.take(), undefined, 'each process is for one file alone');
    for (const child of [first, undefined]) {
      await using full = await openVocabulary(file, { spare: { take: () => child } });
      assert.deepEqual(await full.render(user('Hi')), await engine.render(user('Hi')));
    }
    assert.ok(first.isOver, 'it was used, and ended with its vocabulary');
    const next = await untilAnswer('there is a spare again', () => spare.take());
    assert.equal(next?.isOver, false);
    await next?.[Symbol.asyncDispose]();
  });

  it('refuses a file that cannot be loaded', async () => {
    const odd = [{ 'tokenizer.ggml.model': 'nonsense' }, { 'tokenizer.ggml.tokens': 'none' }];
    const files = await Promise.all(odd.map(async (texts) => written(await ggufWith(file, texts))));
    for (const each of [...files, import.meta.filename])
      await assert.rejects(openVocabulary(each), { code: 'model-unusable' });
  });

  it('forwards what its template refuses, and serves nothing once it is closed', async () => {
    const template = "{{ raise_exception('roles must alternate') }}";
    const opened = await openVocabulary(await written(await ggufWith(file, { 'tokenizer.chat_template': template })));
    await assert.rejects(opened.render(user('a')), { code: 'template-failed', message: /roles must alternate/ });
    await opened[Symbol.asyncDispose]();
    await assert.rejects(opened.tokenize('a'), { code: 'crashed' });
  });
});
