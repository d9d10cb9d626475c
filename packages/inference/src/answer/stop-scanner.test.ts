import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { StopScanner } from './stop-scanner.ts';

function sent(pieces: readonly string[], stops: readonly string[]): { text: string; stop: string | undefined } {
  const scanner = new StopScanner(stops);
  let text = '';
  for (const piece of pieces) {
    const scanned = scanner.push(piece);
    text += scanned.text;
    if (scanned.stop !== undefined) return { text: text + scanner.end(), stop: scanned.stop };
  }
  return { text: text + scanner.end(), stop: undefined };
}

it('stop strings hold back only what may become one', () => {
  const scanner = new StopScanner(['END']);
  const texts = ['the E', 'N', 'CORE', 'x', 'EN'].map((piece) => scanner.push(piece).text);
  assert.deepEqual(texts, ['the ', '', 'ENCOR', 'Ex', '']);
  assert.equal(scanner.end(), 'EN');
  const ended = new StopScanner(['x']);
  assert.deepEqual([ended.push('axb'), ended.push('more').text, ended.end()], [{ text: 'a', stop: 'x' }, '', '']);
});
it('stop strings end the answer before them, however the text is split, and are never sent', () => {
  const abc = (minLength: number, maxLength: number) =>
    fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength, maxLength });
  const anyPieces = fc.array(abc(0, 30), { maxLength: 8 });
  holds(100, [anyPieces, fc.array(abc(1, 4), { minLength: 1, maxLength: 3 })], (pieces, stops) => {
    const { text, stop } = sent(pieces, stops);
    const complete = pieces.join('');
    assert.ok(complete.startsWith(text));
    for (const each of stops) assert.ok(!text.includes(each), `${each} in ${text}`);
    if (stop === undefined) assert.equal(text, complete);
    else assert.equal(complete.slice(text.length, text.length + stop.length), stop);
  });
});
