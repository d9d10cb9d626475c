// One model of the network as an engine: an answer goes on with another worker when its worker is lost, from the tokens that there are.
import { type Engine, EngineError, type Job, type ModelInfo, type Vocabulary } from '@strata/engine';
import type { Trust } from '../audit/trust.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { WorkerSearch } from '../fleet/worker-search.ts';
import { knownBiases, samplingFrame } from '../session/sampling-frame.ts';
import { WorkerLostError, type WorkerSession } from '../session/worker-session.ts';
import type { SegmentAccounts } from '../settlement/segment-accounts.ts';
import { Settlement } from '../settlement/settle-segment.ts';
import { AnswerRelay, assertPrompt } from './answer-relay.ts';

export interface NetworkEngineOptions {
  /** Slots and engine may change while it runs; the model may not. */
  readonly info: () => ModelInfo;
  readonly vocabulary: Vocabulary;
  readonly fleet: Fleet;
  readonly trust: Trust;
  readonly accounts: SegmentAccounts;
  /** Our own peer id. */
  readonly gateway: string;
  /** What a lost worker may cost: given tokens are read one by one as long as that fits. 1,000 by default. */
  readonly replayBudgetMs?: number;
  /** A second worker is asked when the first has said nothing after so many times its expected time. Undefined: never. */
  readonly hedgeAfter?: number;
  /** How long a job waits for a worker to come when there is none. 10,000 by default. */
  readonly patienceMs?: number;
}

const DEFAULTS = { replayBudgetMs: 1_000, patienceMs: 10_000 };

/** Answers reject with EngineError `nobody-there` when there is nobody to finish them. */
export function createNetworkEngine(options: NetworkEngineOptions): Engine {
  const { info, vocabulary, fleet, hedgeAfter } = options;
  const { replayBudgetMs = DEFAULTS.replayBudgetMs, patienceMs = DEFAULTS.patienceMs } = options;
  const settlement = new Settlement(options);
  const parts = { ...options, settle: settlement.settle };
  const closing = new AbortController();
  const whileOpen = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, closing.signal]);

  async function asked<Result>(
    wanted: Pick<Job, 'prompt' | 'given'>,
    signal: AbortSignal,
    ask: (session: WorkerSession) => Promise<Result>,
  ): Promise<Result> {
    const search = new WorkerSearch(fleet, { patienceMs });
    for (;;) {
      const { session } = await search.next(wanted, signal);
      try {
        const result = await ask(session);
        fleet.noteAnswered(session.peer);
        return result;
      } catch (error) {
        if (!(error instanceof WorkerLostError)) throw error;
        search.lost(error, { hasTokens: false });
      }
    }
  }

  return {
    get info() {
      return info();
    },
    get isReady() {
      return fleet.isReady && !closing.signal.aborted;
    },
    tokenize: (text, how) => vocabulary.tokenize(text, how),
    detokenize: (tokens) => vocabulary.detokenize(tokens),
    render: (prompt) => vocabulary.render(prompt),
    generate(job, signal, context = {}) {
      const task = { job, context, signal: whileOpen(signal) };
      return new AnswerRelay(parts, { replayBudgetMs, hedgeAfter, patienceMs }, task).events();
    },
    async score(job, signal) {
      assertPrompt(job.prompt);
      const { sha256: modelSha256, vocabularySize } = info();
      const request = { ...job, modelSha256, sampling: samplingFrame(knownBiases(job.sampling, vocabularySize)) };
      const stop = whileOpen(signal);
      return asked({ prompt: job.prompt, given: job.answer }, stop, (session) => session.score(request, stop));
    },
    async embed(tokens, signal) {
      assertPrompt(tokens);
      const request = { modelSha256: info().sha256, tokens };
      const stop = whileOpen(signal);
      return asked({ prompt: tokens, given: [] }, stop, (session) => session.embed(request, stop));
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new EngineError('crashed', 'this model of the network is not served any more'));
      await settlement.done();
    },
  };
}
