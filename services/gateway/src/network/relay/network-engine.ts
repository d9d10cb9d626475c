// One model of the network as an engine: when a worker is lost, another one continues the answer from the tokens so
// far.
import { type Engine, EngineError, type ModelInfo, type TokenBytes, type Vocabulary } from '@strata/engine';
import type { Wanted } from '../fleet/fleet.ts';
import { WorkerSearch } from '../fleet/worker-search.ts';
import { knownBiases, samplingFrame, WorkerLostError } from '../session/session-events.ts';
import type { WorkerSession } from '../session/worker-session.ts';
import type { AnswerPartDeps } from './answer-part.ts';
import { AnswerRelay, assertPrompt } from './answer-relay.ts';

export interface NetworkEngineOptions extends AnswerPartDeps {
  /** Slots and engine can change; the model cannot. */
  readonly info: () => ModelInfo;
  readonly vocabulary: Vocabulary & TokenBytes;
  /** A second worker is asked after this multiple of the expected time to first token. Undefined: never. */
  readonly hedgeAfter?: number | undefined;
  /** How long a job waits for a worker to connect. 10,000 by default. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

/** Answers reject with EngineError `no-worker` if no worker can complete them. */
export function createNetworkEngine(options: NetworkEngineOptions): Engine {
  const { info, vocabulary, fleet, hedgeAfter, timeoutMs = TIMEOUT_MS } = options;
  const closing = new AbortController();
  const whileOpen = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, closing.signal]);

  async function withWorker<Result>(
    wanted: Wanted,
    signal: AbortSignal,
    call: (session: WorkerSession) => Promise<Result>,
  ): Promise<Result> {
    const search = new WorkerSearch(fleet, { timeoutMs });
    for (;;) {
      const { session } = await search.next(wanted, signal);
      try {
        const result = await call(session);
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
    get isLoaded() {
      return fleet.isLoaded;
    },
    get unavailable() {
      return fleet.isReady ? undefined : 'no worker offers it';
    },
    tokenize: (text, how) => vocabulary.tokenize(text, how),
    detokenize: (tokens) => vocabulary.detokenize(tokens),
    render: (prompt) => vocabulary.render(prompt),
    marks: () => vocabulary.marks(),
    generate(job, signal, context = {}) {
      const task = { job, context, signal: whileOpen(signal) };
      return new AnswerRelay(options, { hedgeAfter, timeoutMs }, task).events();
    },
    async score(job, signal) {
      assertPrompt(job.prompt);
      const { sha256: modelSha256, vocabularySize } = info();
      const request = { ...job, modelSha256, sampling: samplingFrame(knownBiases(job.sampling, vocabularySize)) };
      const stop = whileOpen(signal);
      const wanted = { prompt: job.prompt, given: job.answer, needs: ['scores'] as const };
      return withWorker(wanted, stop, (session) => session.score(request, stop));
    },
    async embed(tokens, signal) {
      assertPrompt(tokens);
      const request = { modelSha256: info().sha256, tokens };
      const stop = whileOpen(signal);
      return withWorker({ prompt: tokens, given: [], needs: ['embeddings'] }, stop, (session) =>
        session.embed(request, stop),
      );
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new EngineError('crashed', 'this model of the network is no longer served'));
    },
  };
}
