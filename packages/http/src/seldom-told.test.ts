import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SeldomTold } from './seldom-told.ts';

it('tells trouble of a kind every ten seconds, with how often it came between, and each kind by itself', () => {
  let now = 5;
  const seldom = new SeldomTold(() => now);
  const take = (message: unknown) => seldom.take(typeof message === 'string' ? new Error(message) : message);
  assert.deepEqual([take('gone'), take('gone'), take('full'), take(undefined)], [0, undefined, 0, 0]);
  now += 9_999;
  assert.equal(take('gone'), undefined);
  now += 1;
  assert.deepEqual([take('gone'), take('full'), take('gone')], [2, 0, undefined]);
});
