// Who is asked next, by a fleet that always has the same workers: how long a search goes on, and when it gives up.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fleet } from './fleet.ts';
import { WorkerSearch } from './worker-search.ts';
import { type LossCause, WorkerLostError, type WorkerSession } from './worker-session.ts';

const NEVER = new AbortController().signal;
const wanted = { prompt: [1], given: [] };

/** So many workers, the first that is not left out; `lost` is what it hears. */
function fleetOf(count: number) {
  const lost: string[] = [];
  const peers = Array.from({ length: count }, (_, i) => `w${i}`);
  const fleet: Fleet = {
    ...{ isReady: true, slots: count },
    choose(_wanted, { except }) {
      const peer = peers.find((each) => !except.has(each));
      if (peer === undefined) return undefined;
      return {
        session: { peer } as WorkerSession,
        expectedFirstTokenMs: 50,
        decodeTokensPerSecond: 50,
        contextLength: 100_000,
      };
    },
    noteServed() {},
    noteAnswered() {},
    noteLost: (peer, loss) => lost.push(`${peer} ${loss}`),
  };
  return { fleet, lost };
}

/** Every worker that is asked says the same; gives how often one was asked before the search gave up, and why. */
async function exhausted(fleet: Fleet, loss: LossCause, patienceMs: number) {
  const search = new WorkerSearch(fleet, { patienceMs });
  for (let asked = 0; ; asked += 1) {
    try {
      const { session } = await search.next(wanted, NEVER);
      search.lost(new WorkerLostError(session.peer, loss), { hasTokens: false });
    } catch (error) {
      return { asked, code: (error as { code?: string }).code };
    }
  }
}

describe('a search for a worker', () => {
  it('waits within its patience while all are busy, however many they are', async () => {
    const { asked, code } = await exhausted(fleetOf(40).fleet, 'busy', 600);
    assert.ok(asked > 40 && asked < 50, `${asked} asked`);
    assert.equal(code, 'nobody-there');
  });

  it('gives up after 32 failures one after another', async () => {
    assert.deepEqual(await exhausted(fleetOf(40).fleet, 'engine-failed', 600), { asked: 32, code: 'crashed' });
  });

  it('believes five of many that a grammar cannot be used', async () => {
    const { fleet, lost } = fleetOf(40);
    assert.deepEqual(await exhausted(fleet, 'grammar-unusable', 600), { asked: 5, code: 'grammar-unusable' });
    assert.deepEqual(lost, []);
  });

  it('holds it against those that refused to go on from what others could', async () => {
    const { fleet, lost } = fleetOf(3);
    const search = new WorkerSearch(fleet, { patienceMs: 600 });
    for (const loss of ['unusable', 'grammar-unusable'] as const) {
      const { session } = await search.next(wanted, NEVER);
      search.lost(new WorkerLostError(session.peer, loss), { hasTokens: true });
    }
    assert.deepEqual(lost, [], 'the tokens may be at fault');
    search.progressed();
    assert.deepEqual(lost, ['w0 unusable', 'w1 grammar-unusable']);
  });

  it('never asks those again that have no room, and finds nobody when they are all', async () => {
    const { fleet } = fleetOf(2);
    const search = new WorkerSearch(fleet, { patienceMs: 600 });
    for (const peer of ['w0', 'w1']) {
      assert.equal((await search.larger(wanted, NEVER))?.session.peer, peer);
      search.lost(new WorkerLostError(peer, 'full'), { hasTokens: true });
    }
    assert.equal(await search.larger(wanted, NEVER), undefined);
  });
});
