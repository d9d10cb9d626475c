import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tinyChatModel as file, type RandomModelOptions, randomModel } from '@strata/testnet';
import fc from 'fast-check';
import { EngineError } from './engine.ts';
import { gguf, ggufOf, ggufWith, textEntry } from './test/gguf-file.ts';
import { readVocabulary } from './vocabulary-file.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strata-vocabulary-'));
});
after(() => rm(directory, { recursive: true, force: true }));

let number = 0;
async function written(bytes: Uint8Array): Promise<string> {
  const to = path.join(directory, `${++number}.gguf`);
  await writeFile(to, bytes);
  return to;
}
const refused = async (bytes: Uint8Array, why: RegExp) =>
  assert.rejects(readVocabulary(await written(bytes)), (error) => {
    assert.ok(error instanceof EngineError && error.code === 'model-unusable', String(error));
    assert.match(error.message, why);
    return true;
  });
const { u32, u64, text } = gguf;
const array = (key: string, kind: number, length: number | bigint, values: Uint8Array) =>
  Buffer.concat([text(key), u32(9), u32(kind), u64(length), values]);
const essential = [
  textEntry('general.architecture', 'llama'),
  array('tokenizer.ggml.tokens', 8, 2, Buffer.concat([text('a'), text('b')])),
];

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
    const itself = await readVocabulary(await written(bytes));
    assert.deepEqual(itself, vocabulary, 'of a vocabulary it is that vocabulary');
  });

  it('is the same for all quantisations of a model, whatever their files are called and however they are split', async () => {
    const shape: RandomModelOptions = {
      seed: 1,
      name: 'noise',
      layers: 1,
      width: 64,
      heads: 2,
      hidden: 64,
      context: 128,
      weights: 'F16',
    };
    const [half, eighth] = [
      await written(randomModel(shape)),
      await written(randomModel({ ...shape, weights: 'Q8_0' })),
    ];
    const vocabulary = await readVocabulary(half);
    assert.deepEqual(await readVocabulary(eighth), vocabulary);
    const part = await written(
      await ggufWith(half, { 'split.count': '3', 'general.name': 'x', 'quantize.imatrix.file': '/a' }),
    );
    assert.deepEqual(await readVocabulary(part), vocabulary);
    const other = await readVocabulary(await written(await ggufWith(half, { 'tokenizer.chat_template': 'other' })));
    assert.notEqual(other.sha256, vocabulary.sha256);
    assert.equal(other.templateSha256, createHash('sha256').update('other').digest('hex'));
  });

  it('is read in parts where it is large', async () => {
    const tokens = Array.from({ length: 300_000 }, (_, i) => text(`token ${i}`));
    const large = await readVocabulary(
      await written(
        ggufOf([essential[0] as Buffer, array('tokenizer.ggml.tokens', 8, tokens.length, Buffer.concat(tokens))]),
      ),
    );
    assert.ok(large.bytes.length > 5_000_000);
    const none = createHash('sha256').digest('hex');
    assert.equal(large.templateSha256, none, 'there is no template');
  });

  it('is refused where there is none, or what is there lies', async () => {
    await assert.rejects(readVocabulary('/nowhere/model.gguf'), { code: 'model-unusable' });
    await assert.rejects(readVocabulary(directory), { code: 'model-unusable' });
    const whole = ggufOf(essential);
    await refused(Buffer.from('GGML'), /does not begin|cut short/);
    await refused(Buffer.from('not a model at all'), /does not begin/);
    for (const version of [0, 1, 4, 0x03000000]) await refused(ggufOf(essential, { version }), /version/);
    await refused(ggufOf(essential, { count: 2n ** 63n }), /larger than anything/);
    await refused(ggufOf(essential, { count: 5_000 }), /larger than anything/);
    await refused(ggufOf(essential, { count: 3 }), /cut short/);
    await refused(ggufOf([...essential, textEntry('general.architecture', 'x')]), /twice/);
    await refused(ggufOf([Buffer.concat([text('a'), u32(77), u32(0)])]), /kind 77/);
    await refused(ggufOf([Buffer.concat([u64(2n ** 62n), text('a')])]), /larger than anything/);
    await refused(ggufOf([Buffer.concat([text('a'), u32(8), u64(2n ** 40n)])]), /larger than anything/);
    await refused(ggufOf([array('a', 4, 2n ** 61n, new Uint8Array())]), /larger than anything/);
    // Each would be looked at, in the process of whoever reads it.
    const empties = array('a', 8, 8 << 20, new Uint8Array(64 << 20));
    await refused(ggufOf([empties]), /larger than anything/);
    // Arrays within arrays, as deep as one likes.
    const nested = Buffer.concat(Array.from({ length: 10_000 }, () => Buffer.concat([u32(9), u64(1)])));
    await refused(ggufOf([Buffer.concat([text('a'), u32(9), nested])]), /kind 9/);
    await refused(ggufOf([essential[1] as Buffer]), /what model/);
    await refused(ggufOf([essential[0] as Buffer]), /no vocabulary/);
    await refused(
      ggufOf([essential[0] as Buffer, array('tokenizer.ggml.tokens', 8, 0, new Uint8Array())]),
      /no vocabulary/,
    );
    const long = textEntry('x', 'a'.repeat(65 * 1024 * 1024));
    await refused(ggufOf([...essential, long]), /larger than anything|too large/);
    await refused(
      ggufOf([...essential, ...Array.from({ length: 3 }, (_, i) => textEntry(`x${i}`, 'a'.repeat(30 << 20)))]),
      /too large/,
    );
    assert.ok((await readVocabulary(await written(whole))).bytes.length > 0);
  });

  it('ends in a vocabulary or a refusal, whatever the bytes are', async () => {
    const whole = Buffer.from((await readVocabulary(file)).bytes).subarray(0, 3_000);
    const to = path.join(directory, 'any.gguf');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 8 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        await writeFile(to, bytes);
        await assert.rejects(readVocabulary(to), { code: 'model-unusable' });
      }),
      { numRuns: 200 },
    );
  });
});
