import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RecentAnswers } from './recent-answers.ts';

it('recent answers are the newest 200, and those of which 16 million characters hold the newest', () => {
  const few = new RecentAnswers();
  for (let at = 0; at < 201; at += 1) few.add(`rwr_${at}`, `text ${at}`);
  assert.deepEqual([few.get('rwr_0'), few.get('rwr_1'), few.get('rwr_200')], [undefined, 'text 1', 'text 200']);
  const recent = new RecentAnswers();
  const long = 'x'.repeat(6 * 1024 * 1024);
  for (const id of ['a', 'b', 'c']) recent.add(id, long);
  const held = () => ['a', 'b', 'c'].filter((id) => recent.get(id) === long).join('');
  assert.equal(held(), 'bc');
  // An answer that comes again counts once, and is new again.
  recent.add('b', long);
  recent.add('d', long);
  assert.equal(held(), 'b');
});
