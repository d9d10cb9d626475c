// The connections of a fetcher: kept alive for a while, and limited in number over all hosts.
import http from 'node:http';
import https from 'node:https';
import type { Agents } from '../web-request.ts';

/** Lifetime of an idle connection: enough for a redirect or the next page, and shorter than most servers' own limit. */
const IDLE_MS = 4_000;

export interface FetchConnectionsOptions {
  /** Idle connections over all hosts. */
  readonly maxIdle: number;
  readonly maxIdlePerHost: number;
  /** Lifetime of an idle connection. */
  readonly idleMs?: number | undefined;
}

/** Disposing closes all connections. */
export class FetchConnections implements Agents, Disposable {
  readonly plain: http.Agent;
  readonly secure: https.Agent;

  constructor({ maxIdle, maxIdlePerHost, idleMs = IDLE_MS }: FetchConnectionsOptions) {
    const kept = { keepAlive: true, maxFreeSockets: maxIdlePerHost, timeout: idleMs };
    this.plain = new http.Agent(kept);
    // Without TLS session resumption: every handshake shows the certificate.
    this.secure = new https.Agent({ ...kept, maxCachedSessions: 0 });
    for (const agent of [this.plain, this.secure]) {
      const keepAlive = agent.keepSocketAlive.bind(agent);
      // The agent closes a socket that this rejects.
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
