// The nodes that all test files of a process share, and a network engine over workers on them.
import type { Job, JobContext } from '@strata/engine';
import { createSimulatedEngine, type SimulatedEngineOptions } from '@strata/testnet';
import { shared } from '../../../../../tests/support/shared.ts';
import type { NetworkEngineOptions } from '../../network/relay/network-engine.ts';
import type { OpenSessionOptions } from '../../network/session/open-session.ts';
import type { SessionRequest } from '../../network/session/session-events.ts';
import { answerOf, job, MODEL, truth } from './answers.ts';
import { TestNetwork } from './network-bed.ts';
import type { ScriptedWorker, WorkerEngine, WorkerScript } from './scripted-worker.ts';

const HOSTS = 5;
const sharedBed = shared(() => TestNetwork.start(HOSTS));

/** The shared nodes without any worker. */
export async function freshBed(options: Partial<OpenSessionOptions> = {}): Promise<TestNetwork> {
  const bed = await sharedBed();
  await bed.fresh(options);
  return bed;
}

/** The behaviour of a worker, and its engine: simulated by default. */
export interface WorkerOptions extends WorkerScript, SimulatedEngineOptions {
  readonly engine?: WorkerEngine;
}

export const connect = (on: TestNetwork, at: number, options: WorkerOptions = {}): Promise<ScriptedWorker> =>
  on.worker(at, options.engine ?? createSimulatedEngine(options), options);

export interface NetworkOptions extends Partial<NetworkEngineOptions> {
  readonly session?: Partial<OpenSessionOptions>;
}

/** Workers on the shared nodes, and an engine over them. */
export async function networkOf(workers: readonly WorkerOptions[], { session, ...options }: NetworkOptions = {}) {
  const bed = await freshBed(session);
  const connected: ScriptedWorker[] = [];
  for (const [at, each] of workers.entries()) connected.push(await connect(bed, at, each));
  const engine = bed.engine(MODEL, options);
  const hostOf = (peer: string) => bed.nodes.findIndex(({ id }) => id === peer);
  return {
    ...{ bed, engine, fleet: bed.fleet, trust: bed.trust },
    worker: (at: number): ScriptedWorker => connected[at] as ScriptedWorker,
    /** Losses, each with the number of the worker’s node. */
    lost: () => bed.fleet.lost.map(({ peer, loss }) => `${hostOf(peer)} ${loss}`),
    /** Numbers of the nodes whose workers generated a part of an answer. */
    served: () => bed.fleet.served.map(({ peer }) => hostOf(peer)),
    connect: (at: number, more: WorkerOptions = {}) => connect(bed, at, more),
    answer: (asked: Job = job(), context: JobContext = {}) => answerOf(engine, asked, context),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}

/** The result of `answer` with honest workers. */
export const UNDISTURBED = { tokens: truth(), kinds: ['begin', 'length'] };

/** One worker with an open session, that sends heartbeats only when the test says so, and is never too late. */
export async function sessionWith(options: WorkerOptions = {}, sessionOptions: Partial<OpenSessionOptions> = {}) {
  const bed = await freshBed({ tickMs: 60_000, ...sessionOptions });
  const worker = await connect(bed, 0, { heartbeatMs: 3_600_000, ...options });
  return { bed, worker, session: bed.session() };
}

/** A request on a session, with its own nonce. */
export function requestOf(more: Partial<SessionRequest> = {}): SessionRequest {
  const { prompt, given, replay, maxTokens, sampling } = job();
  const nonce = crypto.getRandomValues(new Uint8Array(16));
  return {
    ...{ nonce, modelSha256: MODEL, prompt, given, replay, maxTokens, sampling: { ...sampling, logitBias: [] } },
    ...more,
  };
}
