import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EngineSlot, EngineSlots } from './engine-slots.ts';

const never = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** `log` has each gateway that got a slot, or the reason why it got none. */
function scene(count: number, queue: number) {
  const log: string[] = [];
  const held: EngineSlot[] = [];
  const engineSlots = new EngineSlots({ slots: count, queue });
  const enter = (gateway: string, signal = never) => {
    const entered = (slot: EngineSlot) => {
      log.push(gateway);
      held.push(slot);
    };
    const refused = ({ name, message }: Error) => log.push(`${gateway} ${name === 'BusyError' ? 'busy' : message}`);
    engineSlots.enter(gateway, signal).then(entered, refused);
  };
  const enterAll = async (...gateways: readonly string[]) => {
    for (const gateway of gateways) enter(gateway);
    await settled();
  };
  const release = async (at: number) => {
    held[at]?.[Symbol.dispose]();
    await settled();
  };
  return { log, engineSlots, enter, enterAll, release };
}

describe('slots', () => {
  it('are assigned to requests in FIFO order, one for each release', async () => {
    const { log, engineSlots, enterAll, release } = scene(1, 2);
    await enterAll('a', 'a', 'a', 'a');
    assert.deepEqual([log.join(), engineSlots.running, engineSlots.waiting], ['a,a busy', 1, 2]);
    for (let i = 0; i < 2; i += 1) await release(0);
    assert.deepEqual([engineSlots.running, engineSlots.waiting], [1, 1], 'a second release frees nothing');
  });
  it('are assigned to the gateway that holds the fewest, and among equals in FIFO order', async () => {
    const { log, enterAll, release } = scene(2, 10);
    await enterAll('a', 'a', 'a', 'a', 'b', 'b', 'c');
    for (let i = 0; i < 5; i += 1) await release(i);
    assert.equal(log.join(), 'a,a,b,a,b,a,c');
  });
  it('of a full queue are taken from the gateway with the most', async () => {
    const { log, engineSlots, enterAll } = scene(1, 3);
    await enterAll('a', 'a', 'a', 'a', 'b', 'b', 'b');
    assert.deepEqual([log.sort().join(), engineSlots.waiting], ['a,a busy,b busy,b busy', 3]);
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
  it('report when the last one is released', async () => {
    const { engineSlots, enterAll, release } = scene(1, 1);
    await enterAll('a');
    const empty = engineSlots.empty(never).then(() => 'empty');
    assert.equal(await Promise.race([empty, settled()]), undefined);
    await release(0);
    await empty;
    await engineSlots.empty(never);
  });
});
