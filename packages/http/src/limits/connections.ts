// Limits client connections, in total and by address or network, and closes idle ones in favour of new ones.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import {
  type ConnectionLimits,
  connectionsOfProcess,
  type LimitName,
  type ReportLimit,
} from './connection-settings.ts';
import { networksOf } from './counted-address.ts';

/** Values by label value. */
export type Figures = Iterable<readonly [value: string, figure: number]>;

interface ConnectionsOptions {
  readonly limits: Pick<ConnectionLimits, 'connections'> & Partial<ConnectionLimits>;
  /** Addresses and ranges without a limit of their own: each serves many clients. */
  readonly trustedProxies?: readonly string[] | undefined;
  readonly report?: ReportLimit;
}

/** All clients of one address or network. */
interface Peer {
  readonly name: string;
  readonly max: number;
  open: number;
  /** Ordered by idle time, longest first. */
  readonly idle: Set<Socket>;
}

interface Connection {
  /** The address and its networks, narrowest first. */
  readonly peers: readonly Peer[];
  /** In progress. */
  requests: number;
  /** No request has been received: browsers open such connections in advance. */
  isSpare: boolean;
}

/** Connections above the limit, for probes and for connections that have not sent their request yet. */
const RESERVE = 32;
const PROBES: ReadonlySet<string | undefined> = new Set(['/health', '/ready']);
const REFUSAL = 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

/** Connections of all servers of the process, which share its file descriptors. */
const ofProcess = { open: 0, busy: 0 };

/**
 * When a connection limit is reached, a connection without a request is closed for the new one, the longest idle first;
 * if all are busy, the new one is refused. At most `max` connections have a request, except probes: `RESERVE` is for
 * them.
 */
export class Connections {
  readonly #max: number;
  readonly #report: ReportLimit;
  readonly #maxInProcess = connectionsOfProcess();
  readonly #maxPerAddress: number;
  readonly #proxies = new BlockList();
  readonly #open = new Map<Socket, Connection>();
  readonly #peers = new Map<string, Peer>();
  readonly #idle = new Set<Socket>();

  constructor(server: Server, { limits, trustedProxies = [], report = () => {} }: ConnectionsOptions) {
    this.#max = limits.connections;
    this.#report = report;
    this.#maxPerAddress = limits.connectionsPerAddress ?? this.#maxPerNetwork;
    for (const range of trustedProxies) {
      const [address = '', prefix] = range.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      this.#proxies.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
    }
    // One shared listener: there may be tens of thousands of connections.
    const connections = this;
    const forget = function forget(this: Socket) {
      connections.#forget(this);
    };
    const end = function end(this: ServerResponse) {
      connections.#end(this.req.socket);
    };
    server.on('connection', (socket: Socket) => {
      if (this.#admit(socket)) socket.once('close', forget);
      else {
        socket.write(REFUSAL);
        socket.destroySoon();
      }
    });
    // Before the request is answered.
    server.prependListener('request', (request, response) => {
      this.#begin(request.socket);
      response.on('close', end);
    });
  }

  /** Connections that may have a request at once. */
  get max(): number {
    return Math.min(this.#max, this.#maxInProcess);
  }

  /** One network never gets all connections. */
  get #maxPerNetwork(): number {
    return Math.ceil((this.max * 3) / 4);
  }

  get #busy(): number {
    return this.#open.size - this.#idle.size;
  }

  /** By state, `idle` and `busy`; an open stream is busy. */
  figures(): Figures {
    return Object.entries({ idle: this.#idle.size, busy: this.#busy });
  }

  /** Whether to refuse a request: too many connections are busy, and it is not a probe. */
  isExcess({ url }: Pick<IncomingMessage, 'url'>): boolean {
    if (this.#busy <= this.#max && ofProcess.busy <= this.#maxInProcess) return false;
    if (PROBES.has(url?.split('?', 1)[0])) return false;
    this.#report('connections', { max: this.max, closed: 'a connection with a new request' });
    return true;
  }

  /** Closes connections that never sent a request: Node does not count them as idle, so a stop would wait for them. */
  closeSpare(): void {
    for (const socket of this.#idle) if (this.#open.get(socket)?.isSpare) socket.destroy();
  }

  #admit(socket: Socket): boolean {
    const peers = this.#peersOf(socket.remoteAddress ?? '');
    for (const { name: address, max, open, idle } of peers)
      if (open >= max && !this.#evictIdle('connections-per-address', idle, { address, max })) return false;
    const isFull = this.#open.size >= this.#max + RESERVE || ofProcess.open >= this.#maxInProcess + RESERVE;
    if (isFull && !this.#evictIdle('connections', this.#idle, { max: this.max })) return false;
    ofProcess.open += 1;
    this.#open.set(socket, { peers, requests: 0, isSpare: true });
    this.#idle.add(socket);
    for (const peer of peers) {
      peer.open += 1;
      // The closed connection may have been the last one of this peer.
      this.#peers.set(peer.name, peer);
      peer.idle.add(socket);
    }
    return true;
  }

  /** Closes the longest idle connection; false if no connection is idle. */
  #evictIdle(limit: LimitName, idle: ReadonlySet<Socket>, facts: object): boolean {
    const [oldest] = idle;
    this.#report(limit, { ...facts, closed: oldest ? 'an idle connection' : 'a new connection' });
    if (!oldest) return false;
    this.#forget(oldest);
    // Frees the file descriptor at once.
    oldest.destroy();
    return true;
  }

  #peersOf(remote: string): readonly Peer[] {
    const [bare = ''] = remote.split('%');
    // A proxy serves many clients.
    if (isIP(bare) !== 0 && this.#proxies.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4')) return [];
    const perAddress = this.#maxPerAddress;
    const perNetwork = Math.max(perAddress, this.#maxPerNetwork);
    return networksOf(remote).map(
      ({ name, times }) =>
        this.#peers.get(name) ?? { name, max: Math.min(perAddress * times, perNetwork), open: 0, idle: new Set() },
    );
  }

  #begin(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    connection.isSpare = false;
    connection.requests += 1;
    if (connection.requests > 1) return;
    ofProcess.busy += 1;
    this.#idle.delete(socket);
    for (const { idle } of connection.peers) idle.delete(socket);
  }

  #end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    connection.requests -= 1;
    if (connection.requests > 0) return;
    ofProcess.busy -= 1;
    this.#idle.add(socket);
    for (const { idle } of connection.peers) idle.add(socket);
  }

  /** Runs once per connection, whichever side closed it. */
  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    this.#open.delete(socket);
    this.#idle.delete(socket);
    if (connection.requests > 0) ofProcess.busy -= 1;
    ofProcess.open -= 1;
    for (const peer of connection.peers) {
      peer.idle.delete(socket);
      peer.open -= 1;
      if (peer.open === 0) this.#peers.delete(peer.name);
    }
  }
}
