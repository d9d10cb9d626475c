// The search for workers in a fixed fleet: how long it takes, and when it gives up.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type LossCause, WorkerLostError } from '../session/session-events.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import type { Fleet } from './fleet.ts';
import { WorkerSearch } from './worker-search.ts';

const NEVER = new AbortController().signal;
const wanted = { prompt: [1], given: [] };

/**
 * A search among this many workers, the first that is not excluded, on a clock that its waits advance; `lost` is what the fleet is
 * notified of. `withoutIds` have no token ids.
 */
function searchAmong(count: number, withoutIds = 0) {
  const lost: string[] = [];
  const peers = Array.from({ length: count }, (_, i) => `w${i}`);
  const speed = { expectedFirstTokenMs: 50, decodeTokensPerSecond: 50, contextLength: 100_000, loadMs: 0 };
  const fleet: Fleet = {
    ...{ isReady: true, isLoaded: true, slots: count, noteServed() {}, noteAnswered() {} },
    lacking: (needs) => (withoutIds === count ? needs.find((each) => each === 'continuation') : undefined),
    choose({ needs }, { except }) {
      const able = needs?.includes('continuation') ? peers.slice(withoutIds) : peers;
      const peer = able.find((each) => !except.has(each));
      return peer === undefined ? undefined : { session: { peer } as WorkerSession, ...speed };
    },
    noteLost: (peer, loss) => lost.push(`${peer} ${loss}`),
  };
  let nowMs = 0;
  const sleep = async (ms: number) => {
    nowMs += ms;
  };
  return { lost, search: new WorkerSearch(fleet, { timeoutMs: 600, nowMs: () => nowMs, sleep }) };
}

/** All workers fail in the same way: how often a worker was asked before the search gave up, and the reason. */
async function exhausted({ search }: ReturnType<typeof searchAmong>, loss: LossCause) {
  for (let asked = 0; ; asked += 1) {
    try {
      const { session } = await search.next(wanted, NEVER);
      search.lost(new WorkerLostError(session.peer, loss), { hasTokens: false });
    } catch (error) {
      return { asked, code: (error as { code?: string }).code };
    }
  }
}

it('a search for a worker waits for busy workers within its time limit, however many they are', async () => {
  const { asked, code } = await exhausted(searchAmong(40), 'busy');
  assert.ok(asked > 40 && asked < 50 && code === 'no-worker', `${asked} asked, ${code}`);
});
it('a search for a worker gives up after 32 consecutive failures', async () => {
  assert.deepEqual(await exhausted(searchAmong(40), 'engine-failed'), { asked: 32, code: 'crashed' });
});
for (const [workers, asked] of [[40, 5] as const, [3, 3] as const])
  it(`a search for a worker accepts that a grammar is unusable after ${asked} reports of ${workers} workers`, async () => {
    const scene = searchAmong(workers);
    assert.deepEqual(await exhausted(scene, 'grammar-unusable'), { asked, code: 'grammar-unusable' });
    assert.deepEqual(scene.lost, []);
  });

it('a search for a worker leaves a prompt that cannot be written as text to workers with token ids, or refuses it', async () => {
  assert.deepEqual(await exhausted(searchAmong(2, 2), 'unusable'), { asked: 1, code: 'unsupported' });
  const { search } = searchAmong(3, 2);
  search.lost(new WorkerLostError('w0', 'unusable'), { hasTokens: false });
  assert.equal((await search.next(wanted, NEVER)).session.peer, 'w2');
});

it('a search for a worker reports workers that refused what another worker could continue', async () => {
  const { search, lost } = searchAmong(3);
  for (const loss of ['unusable', 'grammar-unusable'] as const) {
    const { session } = await search.next(wanted, NEVER);
    search.lost(new WorkerLostError(session.peer, loss), { hasTokens: true });
  }
  assert.deepEqual(lost, [], 'the tokens may be at fault');
  search.progressed();
  assert.deepEqual(lost, ['w0 unusable', 'w1 grammar-unusable']);
});

it('a search for a worker never asks workers again whose context is too small, and fails when all are too small', async () => {
  const { search } = searchAmong(2);
  for (const peer of ['w0', 'w1']) {
    assert.equal((await search.larger(wanted, NEVER))?.session.peer, peer);
    search.lost(new WorkerLostError(peer, 'full'), { hasTokens: true });
  }
  assert.equal(await search.larger(wanted, NEVER), undefined);
});
