// What feeds and servers ask of those who poll, from one poll to the next.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answer, FEED, HOUR, NOW, poll, RSS } from './test/poll-answers.ts';

test('what feed and server ask for puts the next poll off', async () => {
  const withTtl = RSS.replace('<item>', '<ttl>120</ttl><item>');
  assert.equal((await poll(FEED, answer({}, withTtl))).state.nextPollAt, NOW + 2 * HOUR);
  const headers = { 'cache-control': 'max-age=10800' };
  assert.equal((await poll(FEED, answer({ headers }, withTtl))).state.nextPollAt, NOW + 3 * HOUR);
  // Without an item that was ever seen, a quarter of a day is longer than what the server asks for.
  const { state } = await poll({ ...FEED, etag: '"1"' }, answer({ headers, status: 304 }));
  assert.equal(state.nextPollAt, NOW + 6 * HOUR);
});

test('what a feed asks for holds as well when it is not repeated', async () => {
  const hours = Array.from({ length: 23 }, (_, hour) => `<hour>${hour}</hour>`).join('');
  const wishing = RSS.replace('<item>', `<ttl>720</ttl><skipHours>${hours}</skipHours><item>`);
  const headers = { etag: '"1"' };
  const first = await poll(FEED, answer({ headers }, wishing));
  assert.deepEqual([first.state.ttlMs, first.state.skipHours.length, first.state.skipDays], [12 * HOUR, 23, []]);
  const again = await poll(first.state, answer({ headers, status: 304 }, ''));
  assert.equal(again.kind, 'unchanged');
  assert.equal(again.state.nextPollAt, Date.parse('2026-11-22T23:00:00Z'));
  const digested = await poll((await poll(FEED, answer({}, wishing))).state, answer({}, wishing));
  assert.deepEqual([digested.kind, digested.state.nextPollAt], ['unchanged', again.state.nextPollAt]);
  const without = await poll(again.state, answer({ headers }));
  assert.deepEqual([without.state.ttlMs, without.state.skipHours], [null, []]);
});

test('once a week all is asked for, whatever the validators say', async () => {
  const known = { ...FEED, etag: '"1"', lastModified: 'x' };
  const sentAfter = async (days: number) => {
    const given = answer({ headers: { etag: '"1"' } });
    const { kind, state, headers } = await poll({ ...known, readAt: NOW - days * 24 * HOUR }, given);
    assert.deepEqual([kind, state.readAt], ['read', NOW]);
    return Object.keys(headers);
  };
  assert.deepEqual(await sentAfter(6), ['accept', 'if-none-match', 'if-modified-since']);
  assert.deepEqual(await sentAfter(7), ['accept']);
  assert.deepEqual(await sentAfter(-365), ['accept']);
  const old = { ...known, readAt: NOW - 8 * 24 * HOUR };
  assert.equal((await poll(old, answer({ status: 304 }))).kind, 'failed', 'a 304 that nobody asked for');
});
