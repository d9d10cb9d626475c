import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChatDelta } from '@strata/inference';
import { answer, answerOf, eventsOf } from './test/read-answer.ts';
import { delta, ends, says } from './test/scripted-upstream.ts';
import { endOf, failedAs, refusedAs } from './test/upstream-harness.ts';

/** A piece of a call as `index id name arguments`: `-` is missing, `~` is empty. */
function called(piece: string) {
  const [index, id, name, args] = piece.split(' ').map((each) => (each === '-' ? undefined : each.replace('~', '')));
  const fields = { id, type: 'function', function: { name, arguments: args } };
  return delta({ tool_calls: [index === undefined ? fields : { index: Number(index), ...fields }] });
}
const answerOfCalls = (...pieces: string[]) => answer([...pieces.map(called), ends('tool_calls')]);

describe('calls of tools', () => {
  it('are emitted once, then their arguments as they arrive', async () => {
    assert.deepEqual(await answerOfCalls('0 c0 look ~', '0 - - {"a"', '0 - - :1}', '1 c1 listen {}'), [
      { kind: 'begin' },
      { kind: 'call', at: 0, id: 'c0', name: 'look' },
      { kind: 'arguments', at: 0, text: '{"a"' },
      { kind: 'arguments', at: 0, text: ':1}' },
      { kind: 'call', at: 1, id: 'c1', name: 'listen' },
      { kind: 'arguments', at: 1, text: '{}' },
      { kind: 'end', reason: 'tool_calls' },
    ]);
  });

  const byName = ['0 made_1 a', '1 made_2 b'];
  const pieces = ['0 ~ ~ ~', '0 ~ lo ~', '0 x loo ~', '0 xy look ~', '0 - - {}'];
  for (const [name, given, expected] of [
    ['without arguments are emitted too', ['0 c0 look ~', '1 c1 listen -'], ['0 c0 look', '1 c1 listen']],
    ['get an id where they have none', ['0 - look {}', '1 ~ look {}'], ['0 made_1 look', '1 made_2 look']],
    ['are distinguished by id where all have one index', ['0 a look {}', '0 b look {}'], ['0 a look', '1 b look']],
    ['are distinguished by id where they have no index', ['- a look {}', '- b look {}'], ['0 a look', '1 b look']],
    ['are distinguished by name where they have neither', ['- - a {', '- - - }', '- - b {}'], byName],
    ['may get their name and id in pieces before their arguments', pieces, ['0 xy look']],
    ['keep the name and id that were emitted', ['0 ~ look {', '0 late look }'], ['0 made_1 look']],
  ] as const)
    it(name, async () => {
      // An answer with calls ends with them, whatever reason the server gives.
      const deltas = await answer([...given.map(called), ends('stop')]);
      const calls = deltas.flatMap((each) => (each.kind === 'call' ? [`${each.at} ${each.id} ${each.name}`] : []));
      assert.deepEqual([calls, endOf(deltas)], [expected, 'tool_calls']);
    });

  it('stay separate when their pieces are interleaved', async () => {
    const deltas = await answerOfCalls('0 a x {', '1 b y [', '0 - - }', '1 - - ]');
    const args = deltas.flatMap((each) => (each.kind === 'arguments' ? [`${each.at}${each.text}`] : []));
    assert.deepEqual(args, ['0{', '1[', '0}', '1]']);
  });

  const long = `0 - - ${'y'.repeat(256 * 1024)}`;
  for (const [name, pieces, message] of [
    ['without a name', ['0 a - {}'], /without a name/],
    ['more than 128', Array.from({ length: 129 }, (_, at) => `${at} c${at} x {}`), /more than 128 calls/],
    ['with too long arguments', ['0 a x ~', long, long, long, long, long], /characters of arguments/],
  ] as const)
    it(`are refused: ${name}`, () => assert.rejects(answerOfCalls(...pieces), failedAs('upstream-failed', message)));

  it('are refused as a text without end is', () =>
    assert.rejects(answer(Array(20).fill(says('y'.repeat(1024 * 1024)))), failedAs('upstream-failed', /characters/)));

  it('that were forced come without text', async () => {
    const chunks = [delta({ role: 'assistant' }), says('Let me look.'), called('0 a look {}'), ends('stop')];
    const deltas = await answer(chunks, { isCallForced: true });
    const kinds = deltas.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['begin', 'call', 'arguments', 'end']);
  });

  it('that were forced and never came are refused before anything is emitted', async () => {
    const emitted: ChatDelta[] = [];
    const reading = async () => {
      const deltas = answerOf(eventsOf([says('No.'), ends('stop')]), { isCallForced: true });
      for await (const each of deltas) emitted.push(each);
    };
    await assert.rejects(reading, refusedAs('unsupported_value', /did not call a tool/));
    assert.deepEqual(emitted, []);
    assert.equal(endOf(await answer([says('Let me thi'), ends('length')], { isCallForced: true })), 'length');
  });
});
