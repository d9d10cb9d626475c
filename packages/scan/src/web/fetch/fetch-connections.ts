// The connections of a fetcher: kept for a while after an answer, and few of them, however many hosts are visited.
import http from 'node:http';
import https from 'node:https';
import type { Agents } from '../web-request.ts';

/** How long an idle connection is kept: enough for a redirect or the next page, and less than most servers keep theirs. */
const IDLE_MS = 4_000;

export interface FetchConnectionsOptions {
  /** Idle ones, over all hosts. */
  readonly maxIdle: number;
  readonly maxIdlePerHost: number;
  /** How long an idle one is kept. */
  readonly idleMs?: number | undefined;
}

/** Disposing closes all of them. */
export class FetchConnections implements Agents, Disposable {
  readonly plain: http.Agent;
  readonly secure: https.Agent;

  constructor({ maxIdle, maxIdlePerHost, idleMs = IDLE_MS }: FetchConnectionsOptions) {
    const kept = { keepAlive: true, maxFreeSockets: maxIdlePerHost, timeout: idleMs };
    this.plain = new http.Agent(kept);
    // No sessions: every handshake shows its certificate anew.
    this.secure = new https.Agent({ ...kept, maxCachedSessions: 0 });
    for (const agent of [this.plain, this.secure]) {
      const keepAlive = agent.keepSocketAlive.bind(agent);
      // What this declines, the agent closes.
      agent.keepSocketAlive = (socket) => this.idle < maxIdle && keepAlive(socket);
    }
  }

  get idle(): number {
    const lists = [this.plain, this.secure].flatMap((agent) => Object.values(agent.freeSockets));
    return lists.reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0);
  }

  [Symbol.dispose](): void {
    this.plain.destroy();
    this.secure.destroy();
  }
}
