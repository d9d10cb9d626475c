// Requests to a network of simulated workers, and the answers of an undisturbed one.
import type { Engine, Job, JobContext } from '@strata/engine';
import { type Frame, type FrameOf, GREEDY, type OfferedModel } from '@strata/inference';
import { createSimulatedEngine, simulatedAnswer } from '@strata/testnet';
import { until as untilSo } from '../../../../../tests/support/until.ts';
import type { ScriptedWorker, WorkerScript } from './scripted-worker.ts';

export const PROMPT = [11, 22, 33];
export const COUNT = 30;
export const MODEL = createSimulatedEngine().info.sha256;
export const NEVER = new AbortController().signal;
const SEED = 7;

export const job = (more: Partial<Job> = {}): Job => ({
  ...{ prompt: PROMPT, given: [], replay: 'exact', maxTokens: COUNT, sampling: { ...GREEDY, seed: SEED } },
  ...more,
});

export const truth = (count = COUNT, seed = SEED): readonly number[] => simulatedAnswer(PROMPT, { seed, count });

/** `kinds`: `begin`, and the reason of the end. */
export async function answerOf(engine: Engine, asked: Job = job(), context: JobContext = {}) {
  const tokens: number[] = [];
  const kinds: string[] = [];
  for await (const event of engine.generate(asked, NEVER, context)) {
    if (event.kind === 'token') tokens.push(event.token);
    else kinds.push(event.kind === 'end' ? event.reason : event.kind);
  }
  return { tokens, kinds };
}

/** A model as offered by a worker. */
export const offeredModel = (given: Partial<OfferedModel> = {}): OfferedModel => ({
  ...{ name: 'm', sha256: 'a'.repeat(64), vocabularySha256: 'b'.repeat(64), templateSha256: 'c'.repeat(64) },
  ...{ architecture: 'llama', quantisation: 'F16', sizeBytes: 1, parameters: 1, contextLength: 4_096 },
  ...{ vocabularySize: 32_000, longestToken: 16, slots: 4, engine: 'e' },
  ...{ prefillTokensPerSecond: 1_000, decodeTokensPerSecond: 50, ...given },
});

export type Act = (frame: FrameOf<'tokens'>, worker: ScriptedWorker) => readonly (Frame | Uint8Array)[];

/** Runs an action instead of the token at this position, once. */
export function at(position: number, act: Act): WorkerScript {
  let isDone = false;
  return {
    send(frame, worker) {
      if (isDone || frame.kind !== 'tokens' || frame.position !== position) return [frame];
      isDone = true;
      return act(frame, worker);
    },
  };
}

export const killed: Act = (_frame, worker) => {
  worker.kill();
  return [];
};

/** Waits, in ticks, for a condition that other tasks bring about. */
export const until = (isSo: () => boolean) => untilSo(isSo, { intervalMs: 2 });
