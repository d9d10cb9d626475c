// Which server of a zone to ask next: one that answers fast, by chance, so that no server and no forger can count on it.
import { random16 } from '../random.ts';
import type { NameServer } from './name-server.ts';
import type { Zone } from './zones.ts';

/** How often a server was asked this question in vain; infinite for one that said what it has to say. */
export type Tried = Map<NameServer, number>;

/** A packet may be lost, or two of a busy server; hardly three. */
const MAX_TRIES_A_SERVER = 3;
/** Servers that differ by less are as good as each other. */
const SAME_MS = 10;

/** Undefined when none is left that is neither dead nor shunned. */
export function chooseServer(zone: Zone, tried: Tried): NameServer | undefined {
  const now = performance.now();
  let best: NameServer | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const { servers = [] } of zone.hosts) {
    for (const server of servers) {
      const tries = tried.get(server) ?? 0;
      if (tries >= MAX_TRIES_A_SERVER || server.isDead(now)) continue;
      if ((zone.shunned.get(server)?.untilMs ?? 0) > now) continue;
      // Those that were tried come after those that were not, and up to twice as slow is as good.
      const cost = (server.costMs + SAME_MS) * (1 + random16() / 0x1_0000) + tries * 1e6;
      if (cost >= least) continue;
      least = cost;
      best = server;
    }
  }
  return best;
}
