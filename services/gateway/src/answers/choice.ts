// One choice of an answer, as it comes: tokens to text, stop strings, calls of tools, log-probabilities.
import type { Engine, Job, TokenChoice } from '@strata/engine';
import {
  type ChatDelta,
  type ChosenLogprob,
  type FinishReason,
  StopScanner,
  type TokenLogprob,
  type Tool,
  ToolCallReader,
  type ToolDelta,
} from '@strata/inference';
import { randomText } from '../store/random-ids.ts';
import type { ChoiceDeps } from './backend.ts';

export interface ChoiceOptions extends ChoiceDeps {
  readonly stops: readonly string[];
  /** Tools that may be called; with `isCallForced` the answer is a call and nothing else. */
  readonly tools: readonly Tool[];
  readonly isCallForced: boolean;
  /** Calls beyond so many are left out. */
  readonly maxCalls: number;
}

/** Deltas of a choice, from `begin` to `end`. Whoever stops reading stops the engine. */
export async function* choiceDeltas(engine: Engine, job: Job, options: ChoiceOptions): AsyncGenerator<ChatDelta> {
  const { stops, tools, isCallForced, signal, usage, context } = options;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const scanner = new StopScanner(stops);
  const reader = tools.length > 0 ? new ToolCallReader(tools, { max: options.maxCalls }) : undefined;
  let logprobs: ChosenLogprob[] = [];
  let reason: FinishReason = 'stop';
  let hasCalls = false;

  const told = (deltas: readonly ToolDelta[]): ChatDelta[] =>
    deltas.flatMap((delta): ChatDelta[] => {
      if (delta.kind === 'text') return textDeltas(delta.text);
      hasCalls = true;
      if (delta.kind === 'arguments') return [delta];
      return [{ ...delta, id: `call_${randomText(12)}` }];
    });
  const textDeltas = (text: string): ChatDelta[] => {
    // An answer that must be a call says nothing besides, also where it was cut off.
    if (text === '' || isCallForced) return [];
    const delta = { kind: 'text', text, ...(job.topLogprobs === undefined ? {} : { logprobs }) } as const;
    logprobs = [];
    return [delta];
  };
  const heard = (text: string) => (reader ? told(reader.push(text)) : textDeltas(text));

  let hasBegun = false;
  for await (const event of engine.generate(job, signal, context)) {
    if (event.kind === 'begin') {
      usage.cachedTokens = event.cachedTokens;
      hasBegun = true;
      yield { kind: 'begin' };
      continue;
    }
    if (event.kind === 'end') {
      reason = event.reason;
      break;
    }
    usage.completionTokens += 1;
    if (job.topLogprobs !== undefined)
      logprobs.push({ ...logprobOf(event), top_logprobs: (event.top ?? []).map(logprobOf) });
    const { text, stop } = scanner.push(decoder.decode(event.bytes, { stream: true }));
    yield* heard(text);
    if (stop !== undefined) {
      yield* ending('');
      return;
    }
  }
  if (!hasBegun) yield { kind: 'begin' };
  // Half a character at the end is one that never came.
  yield* ending(scanner.end());

  function* ending(rest: string): Generator<ChatDelta> {
    yield* heard(rest);
    if (reader) yield* told(reader.end());
    yield { kind: 'end', reason: hasCalls && reason === 'stop' ? 'tool_calls' : reason };
  }
}

function logprobOf({ bytes, logprob }: TokenChoice): TokenLogprob {
  return { token: Buffer.from(bytes).toString('utf8'), logprob, bytes: [...bytes] };
}
