import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlTexts, tokenBytes } from './token-bytes.ts';

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('utf8');

describe('the bytes of tokens', () => {
  it('are read from the letters of GPT-2', () => {
    // A blank, a line end, an umlaut in two bytes, half of it, a control token, an added one.
    const tokens = ['Ġa', 'Ċ', 'Ã¼', 'Ã', '<|end|>', '<tool>'];
    const bytes = tokenBytes({ model: 'gpt2', tokens, types: [1, 1, 1, 1, 3, 4] });
    assert.deepEqual(bytes?.slice(0, 3).map(text), [' a', '\n', 'ü']);
    assert.deepEqual([...(bytes?.[3] ?? [])], [0xc3]);
    assert.deepEqual([bytes?.[4]?.length, text(bytes?.[5])], [0, '<tool>']);
  });

  it('are read from the pieces of SentencePiece', () => {
    const bytes = tokenBytes({ model: 'llama', tokens: ['▁hello', '<0xC3>', '<0x0A>', 'ü'], types: [1, 6, 6, 1] });
    assert.deepEqual(
      bytes?.map((each) => Buffer.from(each).toString('hex')),
      ['2068656c6c6f', 'c3', '0a', 'c3bc'],
    );
  });

  it('are unknown of other vocabularies', () => {
    assert.equal(tokenBytes({ model: 'bert', tokens: ['a'], types: [1] }), undefined);
  });

  it('leave out what steers the model, which is told apart', () => {
    const texts = controlTexts({ model: 'gpt2', tokens: ['a', '<x>', '<longer>', ''], types: [1, 3, 4, 3] });
    assert.deepEqual(texts, ['<longer>', '<x>']);
  });
});
