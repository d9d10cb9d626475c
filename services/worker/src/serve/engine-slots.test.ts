import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EngineSlot, EngineSlots } from './engine-slots.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** `log` has each gateway that got a slot, or why it got none. */
function scene(slots: number, queue: number) {
  const log: string[] = [];
  const held: EngineSlot[] = [];
  const places = new EngineSlots({ slots: slots, queue });
  const enter = (gateway: string, signal = never) => {
    const entered = (place: EngineSlot) => {
      log.push(gateway);
      held.push(place);
    };
    const refused = ({ name, message }: Error) => log.push(`${gateway} ${name === 'BusyError' ? 'busy' : message}`);
    places.enter(gateway, signal).then(entered, refused);
  };
  const enterAll = async (...gateways: readonly string[]) => {
    for (const gateway of gateways) enter(gateway);
    await settled();
  };
  const release = async (at: number) => {
    held[at]?.[Symbol.dispose]();
    await settled();
  };
  return { log, places, enter, enterAll, release };
}

describe('slots', () => {
  it('go to requests in their order, one for each that is released', async () => {
    const { log, places, enterAll, release } = scene(1, 2);
    await enterAll('a', 'a', 'a', 'a');
    assert.deepEqual([log.join(), places.running, places.waiting], ['a,a busy', 1, 2]);
    for (let i = 0; i < 2; i += 1) await release(0);
    assert.deepEqual([places.running, places.waiting], [1, 1], 'a second release frees nothing');
  });
  it('go to the gateway that has the fewest, and among equals to the first', async () => {
    const { log, enterAll, release } = scene(2, 10);
    await enterAll('a', 'a', 'a', 'a', 'b', 'b', 'c');
    for (let i = 0; i < 5; i += 1) await release(i);
    assert.equal(log.join(), 'a,a,b,a,b,a,c');
  });
  it('of a full queue are taken from the gateway that has the most', async () => {
    const { log, places, enterAll } = scene(1, 3);
    await enterAll('a', 'a', 'a', 'a', 'b', 'b', 'b');
    assert.deepEqual([log.sort().join(), places.waiting], ['a,a busy,b busy,b busy', 3]);
  });
  it('are not kept for a request that stopped waiting', async () => {
    const { log, enter, enterAll, release } = scene(1, 3);
    const stopping = new AbortController();
    enter('a');
    enter('b', stopping.signal);
    await enterAll('c');
    stopping.abort(new Error('stopped'));
    await release(0);
    assert.equal(log.join(), 'a,b stopped,c');
  });
  it('report when the last is released', async () => {
    const { places, enterAll, release } = scene(1, 1);
    await enterAll('a');
    const empty = places.empty(never).then(() => 'empty');
    assert.equal(await Promise.race([empty, settled()]), undefined);
    await release(0);
    await empty;
    await places.empty(never);
  });
});
