// Ways to choose a worker: ours, and those that it is held against. All see the same.
import { choosePlacement, PrefixMap, weightedDraw } from '@strata/inference';
import type { PolicyOf } from './simulated-fleet.ts';
import type { WorkerView } from './simulated-worker.ts';

const MODEL = 'ab'.repeat(32);
const random: PolicyOf = (next) => ({ choose: (_, workers) => Math.floor(next() * workers.length) });

const roundRobin: PolicyOf = () => {
  let turn = 0;
  return { choose: (_, workers) => turn++ % workers.length };
};

/** The fewest jobs for its slots; of several, one by chance. */
const leastLoaded: PolicyOf = (next) => ({
  choose(_, workers) {
    let found = 0;
    let min = Number.POSITIVE_INFINITY;
    const first = Math.floor(next() * workers.length);
    for (let i = 0; i < workers.length; i++) {
      const index = (first + i) % workers.length;
      const { jobs, slots } = workers[index] as WorkerView;
      if (jobs / slots >= min) continue;
      found = index;
      min = jobs / slots;
    }
    return found;
  },
});

const ours: PolicyOf = (next) => {
  const prefixes = new PrefixMap();
  const learn = (workers: readonly WorkerView[]) => ({
    peers: new Map(workers.map(({ peer }, index) => [peer, index])),
    draw: weightedDraw(workers.map(({ slots, decodeTokensPerSecond }) => slots * decodeTokensPerSecond)),
  });
  // Who is there, and what each can do, changes rarely.
  let known: ReturnType<typeof learn> | undefined;
  return {
    choose({ tokens, replayTokens }, workers) {
      known ??= learn(workers);
      const { peers, draw } = known;
      const cached = prefixes.cachedTokens(MODEL, tokens);
      const field = {
        size: workers.length,
        draw,
        holders: [...cached.keys()].map((peer) => peers.get(peer) ?? 0),
        at: (index: number) => {
          const worker = workers[index] as WorkerView;
          const { peer, slots, jobs, prefillTokensPerSecond, decodeTokensPerSecond, rttMs } = worker;
          const speeds = {
            prefillTokensPerSecond,
            decodeTokensPerSecond,
            rttMs,
            loadMs: 0,
            isLoading: false,
            evictionMs: 0,
          };
          return { peer, slots, jobs, ...speeds, cachedTokens: cached.get(peer) ?? 0, reputation: 1, isOpen: false };
        },
      };
      return choosePlacement(field, { promptTokens: tokens.length, replayTokens }, next)?.index ?? 0;
    },
    served: (peer, tokens) => prefixes.note(peer, MODEL, tokens),
    lost: (peer) => {
      prefixes.forget(peer);
      known = undefined;
    },
  };
};

export const POLICIES = { ours, random, 'round-robin': roundRobin, 'least-loaded': leastLoaded } as const;
