// The state of the live page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Action, type Entry, type Live, MAX_ENTRIES, type Past, reduce, START } from './entries.ts';

type Event = Extract<Entry, { readonly kind: 'event' }>['event'];

// The reducer reads only these fields of an event.
const event = (n: number) =>
  ({ id: `ev_${n}`, published_at: `2026-11-21T22:00:${String(n).padStart(9, '0')}Z` }) as Event;
const received = (...numbers: number[]): Action => ({
  kind: 'received',
  entries: numbers.map((n): Entry => ({ kind: 'event', id: `ev_${n}`, event: event(n), isNew: true })),
});
const answerOf = (numbers: readonly number[]) => ({ body: { events: numbers.map(event) } }) as unknown as Past;
const past = (numbers: readonly number[], isNew = false): Action => ({ kind: 'past', isNew, past: answerOf(numbers) });
const after = (...actions: readonly Action[]): Live => actions.reduce(reduce, START);
const shown = ({ entries }: Live) => entries.map(({ id }) => id.replace('ev_', ''));

test('an event that is both past and on the stream is shown once, in order', () => {
  assert.deepEqual(shown(after(received(3, 4), past([1, 2, 3]))), ['4', '3', '2', '1']);
  assert.deepEqual(shown(after(past([1, 2, 3]), received(3, 4))), ['4', '3', '2', '1']);
  assert.deepEqual(shown(after(past([1, 2]), past([3, 4]), received(5))), ['5', '4', '3', '2', '1']);
});

test('only events after the start count as new', () => {
  assert.equal(after(past([1, 2]), received(3, 4), received(4)).arrived, 2);
  assert.equal(after(past([1, 2]), past([3], true), received(3)).arrived, 1);
});

test('while paused, events are held and counted, and shown on resume', () => {
  const paused = after(past([1]), { kind: 'pause' }, received(2), received(3), past([4], true));
  assert.deepEqual(shown(paused), ['1']);
  assert.deepEqual([paused.heldEvents, paused.arrived], [3, 3]);
  const resumed = reduce(paused, { kind: 'resume' });
  assert.deepEqual(shown(resumed), ['4', '3', '2', '1']);
  assert.equal(resumed.heldEvents, 0);
});

test('the number of entries is bounded, and held events above the bound are still counted', () => {
  const many = Array.from({ length: MAX_ENTRIES + 50 }, (_, i) => i + 1);
  assert.deepEqual(shown(after(received(...many))), many.toReversed().slice(0, MAX_ENTRIES).map(String));
  const paused = after({ kind: 'pause' }, received(...many));
  assert.deepEqual([paused.held.length, paused.heldEvents], [MAX_ENTRIES, MAX_ENTRIES + 50]);
});

test('a gap stays at its position and is not counted as an event', () => {
  const gap: Action = { kind: 'received', entries: [{ kind: 'gap', id: 'gap', reason: 'too long ago' }] };
  const live = after(past([1]), gap, received(2));
  assert.deepEqual(shown(live), ['2', 'gap', '1']);
  assert.equal(live.arrived, 1);
});
