// The vocabulary of a model file, and the bytes of its tokens. Compared with the full engine: vocabulary-engine.full.test.ts.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { tinyChatModel as file, type RandomModelOptions, randomModel } from '@strata/testnet';
import fc from 'fast-check';
import { controlTexts, tokenBytes } from '../llama/llama-vocabulary.ts';
import { ggufOf, ggufWith, text, textEntry, u32, u64, written } from '../test/gguf-file.ts';
import { readVocabulary } from './vocabulary-file.ts';

const refused = (file: string, why: RegExp) =>
  assert.rejects(readVocabulary(file), { name: 'EngineError', code: 'model-unusable', message: why });
const array = (key: string, kind: number, length: number | bigint, values: Uint8Array = new Uint8Array()) =>
  Buffer.concat([text(key), u32(9), u32(kind), u64(length), values]);
const TOKENS = 'tokenizer.ggml.tokens';
const architecture = textEntry('general.architecture', 'llama');
const two = array(TOKENS, 8, 2, Buffer.concat([text('a'), text('b')]));

describe('the vocabulary of a model file', () => {
  it('is a small GGUF of no tensors, the same each time, with digests of itself and of the template', async () => {
    const [vocabulary, again] = [await readVocabulary(file), await readVocabulary(file)];
    assert.deepEqual(again, vocabulary);
    const { bytes, sha256, templateSha256 } = vocabulary;
    assert.ok(bytes.length < 40_000 && (await readFile(file)).length > 4_000_000);
    assert.equal(Buffer.from(bytes.subarray(0, 4)).toString(), 'GGUF');
    assert.equal(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(8, true), 0n);
    assert.equal(sha256, createHash('sha256').update(bytes).digest('hex'));
    assert.match(templateSha256, /^[0-9a-f]{64}$/);
    assert.deepEqual(await readVocabulary(await written(bytes)), vocabulary, 'of a vocabulary it is that vocabulary');
  });

  it('is the same for all quantisations of a model, whatever their files are called and however they are split', async () => {
    const size = { layers: 1, width: 64, heads: 2, hidden: 64, context: 128 };
    const shape: RandomModelOptions = { seed: 1, name: 'noise', weights: 'F16', ...size };
    const half = await written(randomModel(shape));
    const vocabulary = await readVocabulary(half);
    const ofOtherFiles = { 'split.count': '3', 'general.name': 'x', 'quantize.imatrix.file': '/a' };
    for (const bytes of [randomModel({ ...shape, weights: 'Q8_0' }), await ggufWith(half, ofOtherFiles)])
      assert.deepEqual(await readVocabulary(await written(bytes)), vocabulary);
    const other = await readVocabulary(await written(await ggufWith(half, { 'tokenizer.chat_template': 'other' })));
    assert.notEqual(other.sha256, vocabulary.sha256);
    assert.equal(other.templateSha256, createHash('sha256').update('other').digest('hex'));
  });

  it('is read in parts where it is large', async () => {
    const tokens = Array.from({ length: 120_000 }, (_, i) => text(`token ${i}`));
    const entries = [architecture, array(TOKENS, 8, tokens.length, Buffer.concat(tokens))];
    const large = await readVocabulary(await written(ggufOf(entries)));
    assert.ok(large.bytes.length > 2_000_000);
    assert.equal(large.templateSha256, createHash('sha256').digest('hex'), 'there is no template');
  });

  const MB = 2 ** 20;
  const header = (...parts: Buffer[]) => ggufOf([Buffer.concat([text('a'), ...parts])]);
  for (const [name, bytes, why] of [
    ['too short for a magic number', Buffer.from('GGML'), /no GGUF magic|truncated/],
    ['no GGUF', Buffer.from('not a model at all'), /no GGUF magic/],
    ...[0, 1, 4, 0x03000000].map(
      (version) => [`version ${version}`, ggufOf([architecture, two], { version }), /version/] as const,
    ),
    ['2^63 entries', ggufOf([architecture, two], { count: 2n ** 63n }), /above the limit/],
    ['4,097 entries', ggufOf([architecture, two], { count: 4_097 }), /above the limit/],
    ['4,096 entries, of which two are here', ggufOf([architecture, two], { count: 4_096 }), /truncated/],
    ['an entry less than announced', ggufOf([architecture, two], { count: 3 }), /truncated/],
    ['a repeated key', ggufOf([architecture, two, textEntry('general.architecture', 'x')]), /duplicate keys/],
    ['an unknown kind of value', header(u32(77), u32(0)), /type 77/],
    ['a key of 2^62 bytes', ggufOf([Buffer.concat([u64(2n ** 62n), text('a')])]), /above the limit/],
    ['a key of 65,536 bytes', ggufOf([u64(65_536)]), /above the limit/],
    ['a key of 65,535 bytes that are not here', ggufOf([u64(65_535)]), /truncated/],
    ['a text of 2^40 bytes', header(u32(8), u64(2n ** 40n)), /above the limit/],
    ['a text of more than 64 MB', header(u32(8), u64(64 * MB + 1)), /above the limit/],
    ['a text of 64 MB that are not here', header(u32(8), u64(64 * MB)), /truncated/],
    ['an array of 2^61 values', ggufOf([array('a', 4, 2n ** 61n)]), /above the limit/],
    ['an array of more than 2^21 texts', ggufOf([array('a', 8, 2 * MB + 1)]), /above the limit/],
    ['an array of 2^21 texts that are not here', ggufOf([array('a', 8, 2 * MB)]), /truncated/],
    ['nested arrays', header(u32(9), ...Array(10_000).fill(Buffer.concat([u32(9), u64(1)]))), /type 9/],
    ['no architecture', ggufOf([two]), /architecture/],
    ['no vocabulary', ggufOf([architecture]), /no vocabulary/],
    ['an empty vocabulary', ggufOf([architecture, array(TOKENS, 8, 0)]), /no vocabulary/],
  ] as const)
    it(`is refused for a file with ${name}`, async () => refused(await written(bytes), why));

  it('is refused where it is larger than 64 MB, or no file can be read', async () => {
    for (const none of ['/nowhere/model.gguf', import.meta.dirname]) await refused(none, /./);
    const to = await written(ggufOf([architecture, two, Buffer.concat([text('x'), u32(8), u64(64 * MB)])]));
    // The text is there, in blocks that take no space of the disk.
    await truncate(to, 70 * MB);
    await refused(to, /too large/);
  });

  it('ends in a vocabulary or a refusal, whatever the bytes are', async () => {
    const original = Buffer.from((await readVocabulary(file)).bytes).subarray(0, 3_000);
    const to = await written(original);
    const anyChanges = fc.array(fc.tuple(fc.nat(original.length - 1), fc.nat(255)), { maxLength: 8 });
    const isRefused = async (changes: [number, number][]) => {
      const bytes = Buffer.from(original);
      for (const [at, value] of changes) bytes[at] = value;
      await writeFile(to, bytes);
      await assert.rejects(readVocabulary(to), { code: 'model-unusable' });
    };
    await fc.assert(fc.asyncProperty(anyChanges, isRefused), { numRuns: 150 });
  });
});

describe('the bytes of tokens', () => {
  const hexOf = (model: string, tokens: readonly string[], types: readonly number[]) =>
    tokenBytes({ model, tokens, types })?.map((each) => Buffer.from(each).toString('hex'));

  it('are read from the letters of GPT-2 and the pieces of SentencePiece, and unknown of other vocabularies', () => {
    // A blank, a line end, an umlaut in two bytes, half of it, a control token, an added one.
    const letters = hexOf('gpt2', ['Ġa', 'Ċ', 'Ã¼', 'Ã', '<|end|>', '<tool>'], [1, 1, 1, 1, 3, 4]);
    assert.deepEqual(letters, ['2061', '0a', 'c3bc', 'c3', '', '3c746f6f6c3e']);
    const pieces = hexOf('llama', ['▁hello', '<0xC3>', '<0x0A>', 'ü'], [1, 6, 6, 1]);
    assert.deepEqual(pieces, ['2068656c6c6f', 'c3', '0a', 'c3bc']);
    assert.equal(hexOf('bert', ['a'], [1]), undefined);
  });

  it('omit control tokens, which are listed separately', () => {
    const texts = controlTexts({ model: 'gpt2', tokens: ['a', '<x>', '<longer>', ''], types: [1, 3, 4, 3] });
    assert.deepEqual(texts, ['<longer>', '<x>']);
  });
});
