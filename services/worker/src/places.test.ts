import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BusyError, type Place, Places } from './places.ts';

const never = new AbortController().signal;

/** Enters, and notes under its name when it got in or was sent away. */
function entering(places: Places, log: string[]) {
  const held: Place[] = [];
  return {
    held,
    enter(gateway: string, signal = never) {
      places.enter(gateway, signal).then(
        (place) => {
          log.push(gateway);
          held.push(place);
        },
        (error: Error) => log.push(`${gateway} ${error instanceof BusyError ? 'busy' : error.message}`),
      );
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('places', () => {
  it('go to whoever comes first, one for each that leaves', async () => {
    const log: string[] = [];
    const places = new Places({ places: 1, queue: 2 });
    const { enter, held } = entering(places, log);
    for (const name of ['a', 'a', 'a', 'a']) enter(name);
    await settled();
    assert.deepEqual(log, ['a', 'a busy']);
    assert.deepEqual([places.running, places.waiting], [1, 2]);
    held[0]?.[Symbol.dispose]();
    held[0]?.[Symbol.dispose]();
    await settled();
    assert.deepEqual([places.running, places.waiting], [1, 1], 'leaving twice frees one place');
  });

  it('go to the gateway that has the fewest, and of those with as few to who came first', async () => {
    const log: string[] = [];
    const places = new Places({ places: 2, queue: 10 });
    const { enter, held } = entering(places, log);
    for (const name of ['a', 'a', 'a', 'a', 'b', 'b', 'c']) enter(name);
    await settled();
    for (let i = 0; i < 5; i += 1) {
      held[i]?.[Symbol.dispose]();
      await settled();
    }
    assert.deepEqual(log, ['a', 'a', 'b', 'a', 'b', 'a', 'c']);
  });

  it('in a full line are given up by the gateway that has most', async () => {
    const log: string[] = [];
    const places = new Places({ places: 1, queue: 3 });
    const { enter } = entering(places, log);
    for (const name of ['a', 'a', 'a', 'a', 'b', 'b', 'b']) enter(name);
    await settled();
    assert.deepEqual(log.toSorted(), ['a', 'a busy', 'b busy', 'b busy']);
    assert.equal(places.waiting, 3);
  });

  it('are not kept for who stopped waiting', async () => {
    const log: string[] = [];
    const places = new Places({ places: 1, queue: 3 });
    const { enter, held } = entering(places, log);
    const stopping = new AbortController();
    enter('a');
    enter('b', stopping.signal);
    enter('c');
    await settled();
    stopping.abort(new Error('stopped'));
    await settled();
    held[0]?.[Symbol.dispose]();
    await settled();
    assert.deepEqual(log, ['a', 'b stopped', 'c']);
  });

  it('tell when the last is free', async () => {
    const places = new Places({ places: 1, queue: 1 });
    const place = await places.enter('a', never);
    let isEmpty = false;
    const empty = places.empty(never).then(() => {
      isEmpty = true;
    });
    await settled();
    assert.equal(isEmpty, false);
    place[Symbol.dispose]();
    await empty;
    await places.empty(never);
  });
});
