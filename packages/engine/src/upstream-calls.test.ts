import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChatDelta } from '@strata/inference';
import { answer, answerOf, endOf, eventsOf } from './test/read-answer.ts';
import { delta, ends, says } from './test/scripted-upstream.ts';
import { failedAs, refusedAs } from './test/upstream-harness.ts';

const piece = (given: object) => delta({ tool_calls: [given] });
const called = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: string | undefined,
) => piece({ index, id, type: 'function', function: { name, arguments: args } });

describe('calls of tools', () => {
  it('are told once, then their arguments as they come', async () => {
    const deltas = await answer([
      called(0, 'c0', 'look', ''),
      called(0, undefined, undefined, '{"a"'),
      called(0, undefined, undefined, ':1}'),
      called(1, 'c1', 'listen', '{}'),
      ends('tool_calls'),
    ]);
    assert.deepEqual(deltas, [
      { kind: 'begin' },
      { kind: 'call', at: 0, id: 'c0', name: 'look' },
      { kind: 'arguments', at: 0, text: '{"a"' },
      { kind: 'arguments', at: 0, text: ':1}' },
      { kind: 'call', at: 1, id: 'c1', name: 'listen' },
      { kind: 'arguments', at: 1, text: '{}' },
      { kind: 'end', reason: 'tool_calls' },
    ]);
  });

  it('without arguments are told too', async () => {
    const deltas = await answer([
      called(0, 'c0', 'look', ''),
      called(1, 'c1', 'listen', undefined),
      ends('tool_calls'),
    ]);
    assert.deepEqual(
      deltas.filter(({ kind }) => kind === 'call'),
      [
        { kind: 'call', at: 0, id: 'c0', name: 'look' },
        { kind: 'call', at: 1, id: 'c1', name: 'listen' },
      ],
    );
  });

  const names = (deltas: readonly ChatDelta[]) =>
    deltas.flatMap((each) => (each.kind === 'call' ? [[each.at, each.id, each.name]] : []));

  it('get an id where the server gives none', async () => {
    const deltas = await answer([called(0, undefined, 'look', '{}'), called(1, '', 'look', '{}'), ends('tool_calls')]);
    assert.deepEqual(names(deltas), [
      [0, 'made_1', 'look'],
      [1, 'made_2', 'look'],
    ]);
  });

  it('are told apart by id where all have the same index, or none', async () => {
    const expected = [
      [0, 'a', 'look'],
      [1, 'b', 'look'],
    ];
    for (const index of [0, undefined]) {
      const deltas = await answer([called(index, 'a', 'look', '{}'), called(index, 'b', 'look', '{}'), ends('stop')]);
      assert.deepEqual([names(deltas), endOf(deltas)], [expected, 'tool_calls']);
    }
    const nameless = await answer([
      called(undefined, undefined, 'a', '{'),
      called(undefined, undefined, undefined, '}'),
      called(undefined, undefined, 'b', '{}'),
      ends('stop'),
    ]);
    assert.deepEqual(names(nameless), [
      [0, 'made_1', 'a'],
      [1, 'made_2', 'b'],
    ]);
  });

  it('may get their name and id in pieces before their arguments', async () => {
    const deltas = await answer([
      called(0, '', '', ''),
      called(0, '', 'lo', ''),
      called(0, 'x', 'loo', ''),
      called(0, 'xy', 'look', ''),
      called(0, undefined, undefined, '{}'),
      ends('tool_calls'),
    ]);
    assert.deepEqual(names(deltas), [[0, 'xy', 'look']]);
  });

  it('keep the name and id that were told', async () => {
    const deltas = await answer([called(0, '', 'look', '{'), called(0, 'late', 'look', '}'), ends('tool_calls')]);
    assert.deepEqual(names(deltas), [[0, 'made_1', 'look']]);
  });

  it('stay apart when their pieces are mixed', async () => {
    const deltas = await answer([
      called(0, 'a', 'x', '{'),
      called(1, 'b', 'y', '['),
      called(0, undefined, undefined, '}'),
      called(1, undefined, undefined, ']'),
      ends('tool_calls'),
    ]);
    const args = deltas.flatMap((each) => (each.kind === 'arguments' ? [`${each.at}${each.text}`] : []));
    assert.deepEqual(args, ['0{', '1[', '0}', '1]']);
  });

  it('are refused without a name, by the hundred, and without end', async () => {
    await assert.rejects(
      answer([called(0, 'a', undefined, '{}'), ends('tool_calls')]),
      failedAs('upstream-failed', /without a name/),
    );
    const many = Array.from({ length: 129 }, (_, at) => called(at, `c${at}`, 'x', '{}'));
    await assert.rejects(answer(many), failedAs('upstream-failed', /more than 128 calls/));
    const long = [called(0, 'a', 'x', ''), ...Array(5).fill(called(0, undefined, undefined, 'y'.repeat(256 * 1024)))];
    await assert.rejects(answer(long), failedAs('upstream-failed', /characters of arguments/));
    await assert.rejects(
      answer(Array(20).fill(says('y'.repeat(1024 * 1024)))),
      failedAs('upstream-failed', /characters/),
    );
  });

  it('that were forced come without words', async () => {
    const chunks = [delta({ role: 'assistant' }), says('Let me look.'), called(0, 'a', 'look', '{}'), ends('stop')];
    const deltas = await answer(chunks, { isCallForced: true });
    assert.deepEqual(
      deltas.map(({ kind }) => kind),
      ['begin', 'call', 'arguments', 'end'],
    );
  });

  it('that were forced and never came are refused before anything is told', async () => {
    const told: ChatDelta[] = [];
    const reading = async () => {
      for await (const each of answerOf(eventsOf([says('No.'), ends('stop')]), { isCallForced: true })) told.push(each);
    };
    await assert.rejects(reading, refusedAs('unsupported_value', /did not call a tool/));
    assert.deepEqual(told, []);
    assert.equal(endOf(await answer([says('Let me thi'), ends('length')], { isCallForced: true })), 'length');
  });
});
