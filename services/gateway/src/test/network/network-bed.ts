// A gateway and workers on loopback, connected by real channels: what tests of sessions and of the engine over them stand on.
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ModelInfo, Vocabulary } from '@strata/engine';
import { type KnownWorker, NEWCOMER, type OfferedModel, PROTOCOL, PrefixMap } from '@strata/inference';
import { type Channel, type PeerNode, startPeerNode } from '@strata/p2p';
import type { Chosen, Fleet, Served } from '../../network/fleet.ts';
import { LiveFleet } from '../../network/live-fleet.ts';
import { createNetworkEngine, type NetworkEngineOptions } from '../../network/network-engine.ts';
import { openWorkerSession, type SessionOptions } from '../../network/open-session.ts';
import type { SegmentBooks } from '../../network/segment-books.ts';
import type { SeenAnswer, Trust } from '../../network/trust.ts';
import type { SignedSegment, WorkerSession } from '../../network/worker-session.ts';
import { ScriptedWorker, type WorkerEngine, type WorkerScript } from './scripted-worker.ts';

const CONTEXT = 131_072;

export interface SessionEnd {
  readonly peer: string;
  readonly loss: string;
  readonly breach: string | undefined;
}

/** Least busy first; everything that it hears is kept, and nothing is held against anybody: see `liveFleet` for one that does. */
export class BedFleet implements Fleet {
  readonly sessions = new Set<WorkerSession>();
  readonly served: Served[] = [];
  readonly answered: string[] = [];
  readonly lost: { readonly peer: string; readonly loss: string; readonly atMs: number }[] = [];
  readonly chosen: { readonly peer: string; readonly atMs: number }[] = [];
  expectedFirstTokenMs = 100;
  decodeTokensPerSecond = 1_000;

  get isReady(): boolean {
    return this.sessions.size > 0;
  }

  get slots(): number {
    return this.sessions.size * 4;
  }

  choose(_wanted: unknown, { except }: { readonly except: ReadonlySet<string> }): Chosen | undefined {
    const free = [...this.sessions].filter(({ peer, isAlive }) => isAlive && !except.has(peer));
    // Jobs that were begun in the same turn have not reached their worker yet.
    const times = Map.groupBy(this.chosen, ({ peer }) => peer);
    const timesOf = ({ peer }: WorkerSession) => times.get(peer)?.length ?? 0;
    const [session] = free.sort((a, b) => a.load.own - b.load.own || timesOf(a) - timesOf(b));
    if (!session) return undefined;
    this.chosen.push({ peer: session.peer, atMs: performance.now() });
    const { expectedFirstTokenMs, decodeTokensPerSecond } = this;
    return { session, expectedFirstTokenMs, decodeTokensPerSecond, contextLength: CONTEXT };
  }

  /** Why workers were lost, in order. */
  get losses(): readonly string[] {
    return this.lost.map(({ loss }) => loss);
  }

  noteServed(served: Served): void {
    this.served.push(served);
  }

  noteAnswered(peer: string): void {
    this.answered.push(peer);
  }

  noteLost(peer: string, loss: string): void {
    this.lost.push({ peer, loss, atMs: performance.now() });
  }
}

export class BedTrust implements Trust {
  readonly answers: SeenAnswer[] = [];
  readonly breaches: { readonly peer: string; readonly reason: string }[] = [];
  readonly of = () => 1;
  readonly standing = () => NEWCOMER;

  answered(answer: SeenAnswer): void {
    this.answers.push(answer);
  }

  breach(peer: string, reason: string): void {
    this.breaches.push({ peer, reason });
  }
}

export class NetworkBed implements AsyncDisposable {
  readonly gateway: PeerNode;
  readonly nodes: readonly PeerNode[];
  readonly #folder: string;
  readonly #news = new EventEmitter();
  #sessionOptions: Partial<SessionOptions> = {};
  #workers: ScriptedWorker[] = [];
  fleet = new BedFleet();
  trust = new BedTrust();
  agreed: SignedSegment[] = [];
  ends: SessionEnd[] = [];

  private constructor(gateway: PeerNode, nodes: readonly PeerNode[], folder: string) {
    this.gateway = gateway;
    this.nodes = nodes;
    this.#folder = folder;
  }

  static async start(workers: number): Promise<NetworkBed> {
    const folder = await mkdtemp(path.join(tmpdir(), 'strata-bed-'));
    const start = (name: string) =>
      startPeerNode({ keyFile: path.join(folder, name), listen: ['/ip4/127.0.0.1/tcp/0'], isMdnsOn: false });
    const gateway = await start('gateway');
    const nodes = await Promise.all(Array.from({ length: workers }, (_, i) => start(`worker-${i}`)));
    const [address] = gateway.addresses();
    const signal = AbortSignal.timeout(10_000);
    for (const node of nodes) await node.peers.join(address as string, { signal });
    const bed = new NetworkBed(gateway, nodes, folder);
    await gateway.channels.handle(PROTOCOL, (channel) => void bed.#open(channel));
    return bed;
  }

  /** Everything fresh for the next test; the hosts stay. */
  async fresh(sessionOptions: Partial<SessionOptions> = {}): Promise<void> {
    for (const worker of this.#workers) worker.kill();
    await Promise.all(Array.from(this.fleet.sessions, (session) => session[Symbol.asyncDispose]()));
    this.#workers = [];
    this.#sessionOptions = sessionOptions;
    this.fleet = new BedFleet();
    this.trust = new BedTrust();
    this.agreed = [];
    this.ends = [];
  }

  /** A worker whose session is open at the gateway. */
  async worker(at: number, engine: WorkerEngine, script: WorkerScript = {}): Promise<ScriptedWorker> {
    const opened = once(this.#news, `opened ${this.#node(at).id}`);
    const worker = await this.closedWorker(at, engine, script);
    const [error] = await opened;
    if (error) throw error;
    return worker;
  }

  /** A worker of which it is not waited for that its session opens. */
  async closedWorker(at: number, engine: WorkerEngine, script: WorkerScript = {}): Promise<ScriptedWorker> {
    const worker = await ScriptedWorker.connect(this.#node(at), this.gateway.id, { engine, script });
    this.#workers.push(worker);
    return worker;
  }

  /** The next session that ends, or that could not be opened. */
  async nextEnd(): Promise<SessionEnd> {
    const [end] = await once(this.#news, 'ended');
    return end as SessionEnd;
  }

  /** The id of a worker's host. */
  peer(at: number): string {
    return this.#node(at).id;
  }

  session(at = 0): WorkerSession {
    const session = [...this.fleet.sessions].find(({ peer }) => peer === this.peer(at));
    if (!session) throw new Error(`there is no session with worker ${at}`);
    return session;
  }

  /** The fleet prefers workers in the order of their hosts, whatever their load. */
  chooseInOrder(expectedFirstTokenMs = 100): void {
    this.fleet.choose = (_wanted, { except }) => {
      const free = [...this.fleet.sessions].filter(({ peer, isAlive }) => isAlive && !except.has(peer));
      const ids = this.nodes.map(({ id }) => id);
      const [session] = free.sort((a, b) => ids.indexOf(a.peer) - ids.indexOf(b.peer));
      return session && { session, expectedFirstTokenMs, decodeTokensPerSecond: 1_000, contextLength: CONTEXT };
    };
  }

  /** `sha256` is that of the model; nothing is asked of its vocabulary. */
  engine(sha256: string, options: Partial<NetworkEngineOptions> = {}) {
    const books: SegmentBooks = {
      agree: async (segment) => {
        this.agreed.push(segment);
        return this.gateway.sign(segment.bytes);
      },
      recent: async () => [],
    };
    return createNetworkEngine({
      info: () => ({ sha256, vocabularySize: 4_096, contextLength: CONTEXT, slots: this.fleet.slots }) as ModelInfo,
      vocabulary: {} as Vocabulary,
      ...{ fleet: this.fleet, trust: this.trust, books, gateway: this.gateway.id, patienceMs: 5_000 },
      ...options,
    });
  }

  /** The real one, over the workers that are there now; each offers the same, and any model. */
  liveFleet(sha256: string): LiveFleet {
    const model = {
      ...{ sha256, vocabularySha256: sha256, contextLength: CONTEXT, slots: 4 },
      ...{ prefillTokensPerSecond: 10_000, decodeTokensPerSecond: 300 },
    } as OfferedModel;
    return new LiveFleet(
      { sha256, vocabularySha256: sha256 },
      {
        sessions: new Map(Array.from(this.fleet.sessions, (session) => [session.peer, session])),
        directory: { worker: () => ({ offer: { models: [model] as readonly OfferedModel[] } }) as KnownWorker },
        ...{ prefixes: new PrefixMap(), trust: this.trust, random: Math.random, nowMs: () => performance.now() },
      },
    );
  }

  #node(at: number): PeerNode {
    const node = this.nodes[at];
    if (!node) throw new RangeError(`there is no worker ${at}`);
    return node;
  }

  async #open(channel: Channel): Promise<void> {
    const { peer } = channel;
    const { fleet } = this;
    const ended = (end: SessionEnd) => {
      this.ends.push(end);
      this.#news.emit('ended', end);
    };
    try {
      const session: WorkerSession = await openWorkerSession(channel, {
        ...{ software: 'test', roundTripMs: () => 1, onOffer: () => {} },
        ...this.#sessionOptions,
        onEnd: (end) => {
          for (const each of fleet.sessions) if (!each.isAlive) fleet.sessions.delete(each);
          ended({ peer, ...end });
        },
      });
      fleet.sessions.add(session);
      this.#news.emit(`opened ${peer}`);
    } catch (error) {
      ended({ peer, loss: (error as { loss: string }).loss, breach: (error as Error).message });
      this.#news.emit(`opened ${peer}`, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fresh();
    await Promise.all([this.gateway, ...this.nodes].map((node) => node[Symbol.asyncDispose]()));
    await rm(this.#folder, { recursive: true });
  }
}
