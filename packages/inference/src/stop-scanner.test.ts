import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StopScanner } from './stop-scanner.ts';

/** What is sent of a text that comes in pieces. */
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

describe('stop strings', () => {
  it('end the answer before them, also when they come in pieces', () => {
    assert.deepEqual(sent(['one, t', 'w', 'o, three'], ['two']), { text: 'one, ', stop: 'two' });
    assert.deepEqual(sent(['a', '\n', '\n', 'b'], ['\n\n', 'b']), { text: 'a', stop: '\n\n' });
  });

  it('hold back no more than what may become one', () => {
    const scanner = new StopScanner(['END']);
    assert.equal(scanner.push('the E').text, 'the ');
    assert.equal(scanner.push('N').text, '');
    assert.equal(scanner.push('CORE').text, 'ENCOR');
    assert.equal(scanner.push('x').text, 'Ex');
    assert.equal(scanner.push('EN').text, '');
    assert.equal(scanner.end(), 'EN');
  });

  it('say nothing after the end', () => {
    const scanner = new StopScanner(['x']);
    assert.deepEqual(scanner.push('axb'), { text: 'a', stop: 'x' });
    assert.deepEqual([scanner.push('more').text, scanner.end()], ['', '']);
  });

  it('cut at the same place however the text comes, and never let one through', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 });
    const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 8 }), stops, (pieces, each) => {
        const { text, stop } = sent(pieces, each);
        const whole = pieces.join('');
        assert.ok(whole.startsWith(text));
        for (const one of each) assert.ok(!text.includes(one), `${one} in ${text}`);
        if (stop === undefined) assert.equal(text, whole);
        else assert.equal(whole.slice(text.length, text.length + stop.length), stop);
      }),
    );
  });
});
