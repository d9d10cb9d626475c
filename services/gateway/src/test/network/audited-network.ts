// An auditor and workers in one process, whose answers and scores the test controls. The truth is a simulated engine’s.
import { type Ability, GREEDY, lacksOf } from '@strata/inference';
import { createSimulatedEngine, simulatedAnswer } from '@strata/testnet';
import pino from 'pino';
import { randomFrom } from '../../../../../tests/support/random.ts';
import { Auditor, type AuditorOptions } from '../../network/audit/auditor.ts';
import { ReputationRecorder } from '../../network/audit/reputation-recorder.ts';
import type { ObservedAnswer } from '../../network/audit/trust.ts';
import type { WorkerSession } from '../../network/session/worker-session.ts';
import type { Reputations } from '../../store/index.ts';

export const ANSWER_TOKENS = 40;
export const CONTEXT = 4_096;
export const truth = createSimulatedEngine({ answerTokens: ANSWER_TOKENS });
export const MODEL = truth.info.sha256;

export type Score = WorkerSession['score'];

/** Scores as the model does. */
export const honest: Score = ({ sampling, ...job }, signal) =>
  truth.score({ ...job, sampling: { ...GREEDY, seed: sampling.seed } }, signal);
/** The same margin for every token, independent of the answer. */
export const always =
  (margin: number): Score =>
  async ({ answer, hasEnd }) =>
    Array.from({ length: answer.length + (hasEnd ? 1 : 0) }, () => margin);
export const silent: Score = (_request, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
export const HONEST = { ann: honest, ben: honest, cid: honest };

/** The true answer to the request with this number, as an honest worker generates it. */
export function trueAnswer(worker: string, request: number): ObservedAnswer {
  const prompt = [1, 2, request % 4_096, request >> 12, 5];
  const seed = request * 7 + 1;
  return {
    ...{ worker, modelSha256: MODEL, prompt, answer: simulatedAnswer(prompt, { seed, count: ANSWER_TOKENS }) },
    ...{ from: 0, maxTokens: 200, contextLength: CONTEXT, reason: 'stop', grammar: undefined },
    sampling: { ...GREEDY, temperature: 1, seed },
  };
}

export const trueAnswers = (worker: string, count: number, first = 0): readonly ObservedAnswer[] =>
  Array.from({ length: count }, (_, i) => trueAnswer(worker, first + i));

export function reputationsMap(kept = new Map<string, string>()): Reputations {
  const update: Reputations['update'] = async (peer, change) => {
    // Asynchronous, like a database.
    await new Promise(setImmediate);
    const text = change(kept.get(peer));
    if (text === undefined) kept.delete(peer);
    else kept.set(peer, text);
    return text;
  };
  return { read: async () => ({ revision: 0, texts: new Map(kept) }), update };
}

export interface NetworkOptions extends AuditorOptions {
  /** How each worker verifies, by its peer id. */
  readonly workers: Readonly<Record<string, Score>>;
  readonly hasOwnEngine?: boolean;
  /** What the engines of workers lack, by peer id. */
  readonly lacks?: Readonly<Record<string, readonly Ability[]>>;
  readonly reputations?: Reputations;
}

export async function auditedNetwork({ workers, hasOwnEngine, lacks = {}, reputations, ...options }: NetworkOptions) {
  const asked: { peer: string; request: Parameters<Score>[0] }[] = [];
  const clock = { nowMs: Date.UTC(2026, 0, 1) };
  const load = { running: 0, waiting: 0, otherGateways: 0, own: 0, writing: 0, calls: 0 };
  const sessions = Object.entries(workers).map(([peer, verify]) => {
    const score: Score = (request, signal) => {
      asked.push({ peer, request });
      return verify(request, signal);
    };
    return { peer, isAlive: true, load, rttMs: 1, score } as Partial<WorkerSession> as WorkerSession;
  });
  const logger = pino({ level: 'silent' });
  const nowMs = () => clock.nowMs;
  const records = await ReputationRecorder.open({ reputations: reputations ?? reputationsMap(), logger, nowMs });
  const parts = {
    reputations: records,
    workers: (sha256: string) => (sha256 === MODEL ? sessions : []),
    hasOtherWorkers: () => sessions.length > 1,
    lacks: (peer: string) => lacksOf(lacks[peer] ?? []),
    engine: () => (hasOwnEngine ? truth : undefined),
    logger,
    now: () => new Date(clock.nowMs),
  };
  const auditor = new Auditor(parts, { random: randomFrom(42), ...options });
  return {
    ...{ auditor, records, asked, clock },
    reputation: (peer: string) => auditor.reputation(peer),
    states: (...peers: readonly string[]) => peers.map((peer) => auditor.reputation(peer).state).join(' '),
    /** Takes all answers at once, and waits for their audits. */
    async take(...answers: readonly ObservedAnswer[]): Promise<void> {
      for (const answer of answers) auditor.answered(answer);
      await auditor.settled();
    },
    /** Each worker answers this many requests truthfully, one after another. */
    async answerHonestly(peers: readonly string[], count: number): Promise<void> {
      for (let request = 0; request < count; request += 1)
        await this.take(...peers.map((peer, i) => trueAnswer(peer, request * 7 + i)));
    },
    /** A worker answers requests until it is quarantined: how many; 501 if it never is. */
    async requestsUntilCaught(change: (answer: ObservedAnswer) => ObservedAnswer): Promise<number> {
      let request = 0;
      while (request <= 500 && auditor.of('eve') > 0) await this.take(change(trueAnswer('eve', ++request)));
      return request;
    },
    [Symbol.asyncDispose]: async () => {
      await auditor[Symbol.asyncDispose]();
      await records[Symbol.asyncDispose]();
    },
  };
}
