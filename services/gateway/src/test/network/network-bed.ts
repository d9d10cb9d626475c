// A gateway and workers on loopback, connected by real channels: the base of tests of sessions and of the network engine.
import assert from 'node:assert/strict';
import path from 'node:path';
import type { ModelInfo } from '@strata/engine';
import { decodeSegmentReceipt, NEW_WORKER, PROTOCOL } from '@strata/inference';
import { type Channel, type PeerNode, startPeerNode } from '@strata/p2p';
import type { Segments } from '@strata/segments';
import { createSimulatedEngine } from '@strata/testnet';
import { temporaryDirectory } from '../../../../../tests/support/temporary-directory.ts';
import type { ObservedAnswer, Trust } from '../../network/audit/trust.ts';
import type { Chosen, Fleet } from '../../network/fleet/fleet.ts';
import type { Served } from '../../network/fleet/fleet-member.ts';
import { createNetworkEngine, type NetworkEngineOptions } from '../../network/relay/network-engine.ts';
import { type OpenSessionOptions, openWorkerSession } from '../../network/session/open-session.ts';
import type { SignedSegment } from '../../network/session/session-events.ts';
import type { WorkerSession } from '../../network/session/worker-session.ts';
import { Settlement } from '../../network/settlement.ts';
import { ScriptedWorker, type WorkerEngine, type WorkerScript } from './scripted-worker.ts';

const CONTEXT = 131_072;

/** Chooses the least busy worker, records all calls, and excludes no worker because of them. */
class TestFleet implements Fleet {
  readonly isLoaded = true;
  readonly sessions = new Set<WorkerSession>();
  readonly served: Served[] = [];
  readonly answered: string[] = [];
  readonly lost: { peer: string; loss: string; atMs: number }[] = [];
  readonly chosen: string[] = [];
  /** If given, the first connected one of these is chosen, however busy it is. */
  order: readonly string[] | undefined;
  expectedFirstTokenMs = 100;
  decodeTokensPerSecond = 1_000;

  get isReady(): boolean {
    return this.sessions.size > 0;
  }

  get slots(): number {
    return this.sessions.size * 4;
  }

  choose(_wanted: unknown, { except }: { readonly except: ReadonlySet<string> }): Chosen | undefined {
    const { order, expectedFirstTokenMs, decodeTokensPerSecond } = this;
    // Jobs that were started in the same iteration of the event loop have not reached their worker yet.
    const timesOf = (peer: string) => this.chosen.filter((each) => each === peer).length;
    const rank = ({ peer, load }: WorkerSession) => order?.indexOf(peer) ?? load.own * 1e6 + timesOf(peer);
    const free = [...this.sessions].filter(({ peer, isAlive }) => isAlive && !except.has(peer));
    const [session] = free.sort((a, b) => rank(a) - rank(b));
    if (!session) return undefined;
    this.chosen.push(session.peer);
    return { session, expectedFirstTokenMs, decodeTokensPerSecond, contextLength: CONTEXT, loadMs: 0 };
  }

  noteServed = (served: Served) => void this.served.push(served);
  noteAnswered = (peer: string) => void this.answered.push(peer);
  noteLost = (peer: string, loss: string) => void this.lost.push({ peer, loss, atMs: performance.now() });
}

class TestTrust implements Trust {
  readonly answers: ObservedAnswer[] = [];
  readonly breaches: { peer: string; reason: string }[] = [];
  readonly of = () => 1;
  readonly reputation = () => NEW_WORKER;
  readonly verified = () => ({ level: 'claimed' as const, reason: 'a test' });
  readonly answered = (answer: ObservedAnswer) => void this.answers.push(answer);
  readonly breach = (peer: string, reason: string) => void this.breaches.push({ peer, reason });
}

export class TestNetwork implements AsyncDisposable {
  readonly gateway: PeerNode;
  readonly nodes: readonly PeerNode[];
  readonly #folder: AsyncDisposable;
  #sessionOptions: Partial<OpenSessionOptions> = {};
  #workers: ScriptedWorker[] = [];
  readonly #opening = new Map<string, PromiseWithResolvers<void>>();
  fleet = new TestFleet();
  trust = new TestTrust();
  agreed: SignedSegment[] = [];
  /** Sessions that ended, and those that could not be opened. */
  ends: { peer: string; loss: string; breach: string | undefined }[] = [];

  private constructor(gateway: PeerNode, nodes: readonly PeerNode[], folder: AsyncDisposable) {
    this.gateway = gateway;
    this.nodes = nodes;
    this.#folder = folder;
  }

  static async start(workers: number): Promise<TestNetwork> {
    const folder = await temporaryDirectory();
    const start = (name: string) =>
      startPeerNode({ keyFile: path.join(folder.path, name), listen: ['/ip4/127.0.0.1/tcp/0'], isMdnsOn: false });
    const gateway = await start('gateway');
    const nodes = await Promise.all(Array.from({ length: workers }, (_, i) => start(`worker-${i}`)));
    const signal = AbortSignal.timeout(30_000);
    for (const node of nodes) await node.peers.join(gateway.addresses()[0] as string, { signal });
    const bed = new TestNetwork(gateway, nodes, folder);
    await gateway.channels.handle(PROTOCOL, (channel) => void bed.#open(channel));
    return bed;
  }

  /** Ends all workers and sessions; the nodes stay. */
  async fresh(sessionOptions: Partial<OpenSessionOptions> = {}): Promise<void> {
    for (const worker of this.#workers) worker.kill();
    await Promise.all(Array.from(this.fleet.sessions, (session) => session[Symbol.asyncDispose]()));
    this.#sessionOptions = sessionOptions;
    this.#workers = [];
    Object.assign(this, { fleet: new TestFleet(), trust: new TestTrust(), agreed: [], ends: [] });
  }

  /** A worker with an open session at the gateway. */
  async worker(at: number, engine: WorkerEngine, script: WorkerScript = {}): Promise<ScriptedWorker> {
    const opened = Promise.withResolvers<void>();
    this.#opening.set(this.peer(at), opened);
    const [worker] = await Promise.all([this.closedWorker(at, engine, script), opened.promise]);
    return worker;
  }

  /** A worker whose session need not open. */
  async closedWorker(at: number, engine: WorkerEngine, script: WorkerScript = {}): Promise<ScriptedWorker> {
    const worker = await ScriptedWorker.connect(this.nodes[at] as PeerNode, this.gateway.id, { engine, script });
    this.#workers.push(worker);
    return worker;
  }

  peer(at: number): string {
    return (this.nodes[at] as PeerNode).id;
  }

  session(at = 0): WorkerSession {
    return [...this.fleet.sessions].find(({ peer }) => peer === this.peer(at)) ?? assert.fail(`no session with ${at}`);
  }

  /** The fleet prefers workers in the order of their nodes, whatever their load. */
  chooseInOrder(expectedFirstTokenMs = 100): void {
    Object.assign(this.fleet, { order: this.nodes.map(({ id }) => id), expectedFirstTokenMs });
  }

  /** `sha256` is that of the model. */
  engine(sha256: string, options: Partial<NetworkEngineOptions> = {}) {
    const { fleet, trust, agreed, gateway } = this;
    const put: Segments['put'] = async ({ receipt: bytes, workerSignature: signature }) =>
      agreed.push({ receipt: decodeSegmentReceipt(bytes), bytes, signature }) > 0;
    const segments = { put, list: async () => [] };
    const sign = (bytes: Uint8Array) => gateway.sign(bytes);
    return createNetworkEngine({
      info: () => ({ sha256, vocabularySize: 4_096, contextLength: CONTEXT, slots: fleet.slots }) as ModelInfo,
      vocabulary: createSimulatedEngine(),
      settlement: new Settlement({ trust, segments, gateway: gateway.id, sign, now: () => new Date() }),
      ...{ fleet, trust, timeoutMs: 30_000, ...options },
    });
  }

  async #open(channel: Channel): Promise<void> {
    const { peer } = channel;
    const { fleet, ends } = this;
    try {
      const session = await openWorkerSession(channel, {
        ...{ software: 'test', roundTripMs: () => 1, onOffer: () => {}, ...this.#sessionOptions },
        onEnd: (end) => {
          for (const each of fleet.sessions) if (!each.isAlive) fleet.sessions.delete(each);
          ends.push({ peer, ...end });
        },
      });
      fleet.sessions.add(session);
      this.#opening.get(peer)?.resolve();
    } catch (error) {
      ends.push({ peer, loss: (error as { loss: string }).loss, breach: (error as Error).message });
      this.#opening.get(peer)?.reject(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fresh();
    await Promise.all([this.gateway, ...this.nodes].map((node) => node[Symbol.asyncDispose]()));
    await this.#folder[Symbol.asyncDispose]();
  }
}
