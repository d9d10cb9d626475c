// Workers around an auditor, all in one process: what each answers and how it verifies is its own affair. The truth is a
// simulated engine's; standings are kept in a map.
import { GREEDY } from '@strata/inference';
import type { Standings } from '@strata/store';
import { createSimulatedEngine, simulatedAnswer, simulatedText } from '@strata/testnet';
import pino from 'pino';
import { type AuditorOptions, type AuditorParts, openAuditor } from '../../network/auditor.ts';
import type { SeenAnswer } from '../../network/trust.ts';
import type { WorkerSession } from '../../network/worker-session.ts';

export const ANSWER_TOKENS = 40;
export const CONTEXT = 4_096;
export const truth = createSimulatedEngine({ answerTokens: ANSWER_TOKENS });
export const MODEL = truth.info.sha256;

type Score = WorkerSession['score'];

/** Scores as the model has it. */
export const honest: Score = ({ sampling, ...job }, signal) =>
  truth.score({ ...job, sampling: { ...GREEDY, seed: sampling.seed } }, signal);
/** Looks at nothing. */
export const lazy: Score = async ({ answer, hasEnd }) =>
  Array.from({ length: answer.length + (hasEnd ? 1 : 0) }, () => 0);
/** Speaks against everybody. */
export const lying: Score = async ({ answer, hasEnd }) =>
  Array.from({ length: answer.length + (hasEnd ? 1 : 0) }, () => 8);

/** From 0 to below 1, the same for the same seed: Park and Miller's. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
}

/** The true answer to the request of this number, as an honest worker gives it. */
export function trueAnswer(worker: string, request: number): SeenAnswer {
  const prompt = [1, 2, request % 4_096, request >> 12, 5];
  const seed = request * 7 + 1;
  return readAs({
    worker,
    modelSha256: MODEL,
    prompt,
    answer: simulatedAnswer(prompt, { seed, count: ANSWER_TOKENS }),
    from: 0,
    maxTokens: 200,
    contextLength: CONTEXT,
    reason: 'stop',
    sampling: { ...GREEDY, temperature: 1, seed },
    grammar: undefined,
  });
}

/** With the text that its tokens read as. */
export function readAs(answer: Omit<SeenAnswer, 'text'>): SeenAnswer {
  const own = answer.answer.slice(answer.from);
  return { ...answer, text: Buffer.from(own.map(simulatedText).join('')) };
}

export function standingsMap(kept = new Map<string, string>()): Standings & { readonly kept: Map<string, string> } {
  return { kept, all: async () => new Map(kept), put: async (peer, standing) => void kept.set(peer, standing) };
}

export interface NetworkOptions extends AuditorOptions {
  /** How each verifies, by its peer id. */
  readonly workers: Readonly<Record<string, Score>>;
  readonly hasOwnEngine?: boolean;
  readonly standings?: Standings;
}

/** Of the auditor and what was asked of whom; `nowMs` moves its clock. */
export async function auditedNetwork({ workers, hasOwnEngine, standings, ...options }: NetworkOptions) {
  const asked: { peer: string; answer: readonly number[] }[] = [];
  const clock = { nowMs: Date.UTC(2026, 0, 1) };
  const sessions = Object.entries(workers).map(([peer, score]) =>
    session(peer, (request, signal) => {
      asked.push({ peer, answer: request.answer });
      return score(request, signal);
    }),
  );
  const parts: AuditorParts = {
    standings: standings ?? standingsMap(),
    workers: (sha256) => (sha256 === MODEL ? sessions : []),
    engine: () => (hasOwnEngine ? truth : undefined),
    vocabulary: () => truth,
    logger: pino({ level: 'silent' }),
    now: () => new Date(clock.nowMs),
  };
  const auditor = await openAuditor(parts, { random: seeded(42), ...options });
  return { auditor, asked, clock, parts, [Symbol.asyncDispose]: () => auditor[Symbol.asyncDispose]() };
}

type Network = Awaited<ReturnType<typeof auditedNetwork>>;
/** What a worker makes of the true answer. */
export type Change = (answer: SeenAnswer) => SeenAnswer;

export const HONEST = { ann: honest, ben: honest, cid: honest };

/** Lets a worker answer, one request after the other, until it is quarantined; how many it took, of 500 at most. */
export async function requestsUntilCaught({ auditor }: Network, change: Change): Promise<number> {
  for (let request = 1; request <= 500; request += 1) {
    auditor.answered(change(trueAnswer('eve', request)));
    await auditor.settled();
    if (auditor.of('eve') === 0) return request;
  }
  return Number.POSITIVE_INFINITY;
}

/** Each answers so many requests, truly. */
export async function answerHonestly({ auditor }: Network, peers: readonly string[], count: number): Promise<void> {
  for (let request = 0; request < count; request += 1) {
    for (const [i, peer] of peers.entries()) auditor.answered(trueAnswer(peer, request * 7 + i));
    await auditor.settled();
  }
}

export const by =
  (change: Partial<SeenAnswer> | ((answer: SeenAnswer) => Partial<SeenAnswer>)): Change =>
  (answer) =>
    readAs({ ...answer, ...(typeof change === 'function' ? change(answer) : change) });

function session(peer: string, score: Score): WorkerSession {
  const unasked = () => {
    throw new Error('an auditor asks for scores alone');
  };
  return {
    peer,
    isAlive: true,
    load: { running: 0, waiting: 0, others: 0, own: 0, writing: 0, calls: 0 },
    rttMs: 1,
    score,
    run: unasked,
    embed: unasked,
    vocabulary: unasked,
    settle: unasked,
    async [Symbol.asyncDispose]() {},
  };
}
