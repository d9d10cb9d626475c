// Connections of clients: how many there may be, of all and of one address or network, and which are closed for others.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { type BoundName, type Bounds, connectionsOfProcess, type ReportBound } from './connection-settings.ts';
import { networksOf } from './counted-address.ts';

/** By the value of a label. */
export type Figures = Iterable<readonly [value: string, figure: number]>;

export interface ConnectionsOptions {
  readonly bounds: Pick<Bounds, 'connections' | 'connectionsPerAddress'>;
  /** Addresses and ranges that have no bound of their own: behind each are many clients. */
  readonly trustedProxies?: readonly string[] | undefined;
  readonly report?: ReportBound;
}

/** All clients of one address, or of one network. */
interface Peer {
  readonly name: string;
  readonly max: number;
  open: number;
  /** The longest idle first. */
  readonly idle: Set<Socket>;
}

interface Connection {
  /** Its address and the networks around it, the narrowest first. */
  readonly peers: readonly Peer[];
  /** Under way. */
  requests: number;
  /** No request has come yet: browsers open such connections in advance. */
  isSpare: boolean;
}

/** Connections beyond the bound, for probes, and for those that have not sent their request yet. */
const RESERVE = 32;
const PROBES: ReadonlySet<string | undefined> = new Set(['/health', '/ready']);
const REFUSAL = 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

/** Connections of all servers of the process, which share its files. */
const ofProcess = { open: 0, busy: 0 };

/**
 * Where a bound on connections is met, one without a request is closed for the new one, the longest idle first; while all have one, the
 * new one is refused. No more than `max` have a request, except probes: what is left, `RESERVE`, is for them.
 */
export class Connections {
  readonly #max: number;
  readonly #report: ReportBound;
  readonly #maxInProcess = connectionsOfProcess();
  readonly #maxPerAddress: number;
  readonly #proxies = new BlockList();
  readonly #open = new Map<Socket, Connection>();
  readonly #peers = new Map<string, Peer>();
  readonly #idle = new Set<Socket>();

  constructor(server: Server, { bounds, trustedProxies = [], report = () => {} }: ConnectionsOptions) {
    this.#max = bounds.connections;
    this.#report = report;
    this.#maxPerAddress = bounds.connectionsPerAddress ?? this.#maxPerNetwork;
    for (const range of trustedProxies) {
      const [address = '', prefix] = range.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      this.#proxies.addSubnet(address, Number(prefix ?? (family === 'ipv6' ? 128 : 32)), family);
    }
    // One listener for all: there may be tens of thousands.
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

  /** No network holds all: what is left is for other clients. */
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

  /** Whether a request is to be refused: too many connections have one, and it is not a probe. */
  isExcess({ url }: Pick<IncomingMessage, 'url'>): boolean {
    if (this.#busy <= this.#max && ofProcess.busy <= this.#maxInProcess) return false;
    if (PROBES.has(url?.split('?', 1)[0])) return false;
    this.#report('connections', { max: this.max, closed: 'a connection with a new request' });
    return true;
  }

  /** Closes connections on which no request ever came: to Node they are not idle, so a stop would wait for them. */
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
      // The connection that was closed may have been its last one.
      this.#peers.set(peer.name, peer);
      peer.idle.add(socket);
    }
    return true;
  }

  /** Closes the connection that was idle the longest; false where there is none. */
  #evictIdle(bound: BoundName, idle: ReadonlySet<Socket>, facts: object): boolean {
    const [oldest] = idle;
    this.#report(bound, { ...facts, closed: oldest ? 'an idle connection' : 'a new connection' });
    if (!oldest) return false;
    this.#forget(oldest);
    // Its file is free at once.
    oldest.destroy();
    return true;
  }

  #peersOf(remote: string): readonly Peer[] {
    const [bare = ''] = remote.split('%');
    // Behind a proxy are many clients.
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

  /** Once for each connection, whichever side closed it. */
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
