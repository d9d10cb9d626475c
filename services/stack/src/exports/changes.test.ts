// Waits for changes: what ends them, and that they leave no listener.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { it } from 'node:test';
import { Changes } from './changes.ts';

it('a wait ends at a change, a missed one too, at the abort and at the poll, and leaves no listener', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const changes = new Changes({ pollMs: 500 });
  const stopping = new AbortController();
  const ends = [() => changes.notify(), () => t.mock.timers.tick(500), () => stopping.abort(), () => {}];
  for (const end of ends) {
    const waiting = changes.wait(changes.version, stopping.signal);
    end();
    await waiting;
    assert.equal(getEventListeners(stopping.signal, 'abort').length, 0);
  }
  await changes.wait(changes.version - 1, new AbortController().signal);
});
