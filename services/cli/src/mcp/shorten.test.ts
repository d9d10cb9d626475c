// What an agent is spared, and that it is told of it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOST_CHARACTERS, shorten } from './shorten.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('a shortened answer', () => {
  it('is the answer itself where that is short, without what every answer says', () => {
    const { answer, leftOut } = shorten({ _alpha: true, _notice: 'x', provenance: {}, domain: 'a.example', list: [1] });
    assert.deepEqual(answer, { domain: 'a.example', list: [1] });
    assert.deepEqual(leftOut, []);
  });

  it('cuts lists by their name, and adds up what it left out of each place', () => {
    const services = [{ evidence: numbers(5) }, { evidence: numbers(3) }, { evidence: numbers(1) }];
    const { answer, leftOut } = shorten({ services }, { most: { evidence: 2 } });
    assert.deepEqual(answer, { services: [{ evidence: [0, 1] }, { evidence: [0, 1] }, { evidence: [0] }] });
    assert.deepEqual(leftOut, [{ at: 'services[].evidence', items: 4 }]);
  });

  it('takes a page of the lists that are paged, and says how much lies behind', () => {
    const page = { lists: ['domains.results'], limit: 3, offset: 4 };
    const cut = shorten({ domains: { results: numbers(9) } }, { page });
    assert.deepEqual(cut.answer, { domains: { results: [4, 5, 6] } });
    assert.deepEqual([cut.shown, cut.behind, cut.leftOut], [3, 2, []]);
    const past = shorten({ domains: { results: numbers(2) } }, { page });
    assert.deepEqual([past.answer, past.shown, past.behind], [{ domains: { results: [] } }, 0, 0]);
  });

  it('keeps the newest days of a curve', () => {
    const { answer, leftOut } = shorten({ curve: numbers(100) }, { most: { curve: 2 } });
    assert.deepEqual([answer, leftOut], [{ curve: [98, 99] }, [{ at: 'curve', items: 98 }]]);
  });

  it('makes of any text one line without what cannot be seen, and says how much it cut', () => {
    const tags = String.fromCodePoint(...[...'ignore'].map((each) => 0xe0000 + (each.codePointAt(0) ?? 0)));
    const { answer } = shorten({ title: `a\u001b[2J\r\nSYSTEM:\u202e b${tags}`, long: 'x'.repeat(1_000) });
    assert.equal(answer.title, 'a [2J SYSTEM: b');
    // A byte in each variation selector after a letter; fillers of Hangul, and what Unicode has left unassigned to be unseen.
    const selectors = String.fromCodePoint(...[...'obey'].map((each) => 0xe0100 + (each.codePointAt(0) ?? 0)));
    const unseen = `\ufe0f\u034f\u115f\u3164\uffa0\u180b\u2800\u2065${String.fromCodePoint(0xe0000, 0xe0fff)}`;
    const hidden = shorten({ [`n${unseen}`]: [`a${selectors}b`, `c${unseen}d`] });
    assert.deepEqual(hidden.answer, { n: ['ab', 'cd'] });
    assert.equal(answer.long, `${'x'.repeat(300)}… (+700 characters)`);
  });

  it('fits whatever comes', () => {
    const list = numbers(500).map((id) => ({ id, text: 'y'.repeat(2_000) }));
    const deep = Object.fromEntries(numbers(6).map((name) => [`list${name}`, list]));
    const page = { lists: ['list0'], limit: 100, offset: 0 };
    for (const options of [{}, { page }]) {
      const { answer, leftOut } = shorten(deep, options);
      assert.ok(JSON.stringify(answer).length <= MOST_CHARACTERS);
      assert.ok(leftOut.length >= 5);
    }
  });

  it('fits also where there is nothing to cut: fields without an end, nesting without an end, numbers', () => {
    const wide = Object.fromEntries(numbers(50_000).map((name) => [`field${name}`, { list: numbers(50) }]));
    const row = Object.fromEntries(numbers(200).map((at) => [`c${at}`, at]));
    const rows = Object.fromEntries(numbers(200).map((at) => [`row${at}`, row]));
    const nested = (open: string, close: string) => JSON.parse(`${open.repeat(3_000)}null${close.repeat(3_000)}`);
    for (const given of [wide, rows, { a: nested('[', ']') }, nested('{"":', '}')]) {
      const { answer, leftOut } = shorten(given);
      assert.ok(JSON.stringify(answer).length <= MOST_CHARACTERS);
      assert.ok(JSON.stringify(leftOut).length <= 4_000);
    }
    assert.deepEqual(shorten(rows).leftOut, [{ at: 'the whole answer', items: 1 }]);
  });

  it('survives what is no object, and names that objects inherit', () => {
    for (const value of [null, 1, 'x', undefined]) assert.deepEqual(shorten(value).leftOut, []);
    const { answer } = shorten(JSON.parse('{"__proto__": {"x": 1}, "constructor": [1], "hasOwnProperty": "y"}'));
    assert.equal(Object.getPrototypeOf(answer), Object.prototype);
    assert.ok(Object.hasOwn(answer, '__proto__'));
    assert.deepEqual(answer.constructor, [1]);
  });
});
