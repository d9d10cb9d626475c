// One choice of an answer, as it comes: tokens to text, stop strings, calls of tools, log-probabilities.
import { randomBytes } from 'node:crypto';
import type { Engine, Job, TokenChoice } from '@strata/engine';
import {
  type ChatDelta,
  type ChosenLogprob,
  type FinishReason,
  StopScanner,
  type TokenLogprob,
  type Tool,
  ToolCallReader,
} from '@strata/inference';
import type { ChoiceParts } from './backend.ts';

export interface ChoiceOptions extends ChoiceParts {
  readonly stops: readonly string[];
  /** Tools that may be called; with `isCallForced` the answer is a call and nothing else. */
  readonly tools: readonly Tool[];
  readonly isCallForced: boolean;
}

/** Deltas of a choice, from `begin` to `end`. Whoever stops reading stops the engine. */
export async function* choiceDeltas(engine: Engine, job: Job, options: ChoiceOptions): AsyncGenerator<ChatDelta> {
  const { stops, tools, isCallForced, signal, usage } = options;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const scanner = new StopScanner(stops);
  const calls = tools.length > 0 ? new ToolCallReader(tools) : undefined;
  const told = (text: string) => calls?.push(text) ?? text;
  let logprobs: ChosenLogprob[] = [];
  let reason: FinishReason = 'stop';
  const textDelta = (text: string): ChatDelta => {
    const delta = { kind: 'text', text, ...(job.topLogprobs === undefined ? {} : { logprobs }) } as const;
    logprobs = [];
    return delta;
  };

  let hasBegun = false;
  for await (const event of engine.generate(job, signal)) {
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
    const free = told(text);
    if (free !== '') yield textDelta(free);
    if (stop !== undefined) {
      reason = 'stop';
      yield* ending('');
      return;
    }
  }
  if (!hasBegun) yield { kind: 'begin' };
  // Half a character at the end is one that never came.
  yield* ending(scanner.push(decoder.decode()).text + scanner.end());

  function* ending(rest: string): Generator<ChatDelta> {
    const free = told(rest);
    const held = calls?.end() ?? { text: '', calls: [] };
    const text = free + held.text;
    if (text !== '' && !(isCallForced && held.calls.length > 0)) yield textDelta(text);
    for (const [at, call] of held.calls.entries()) {
      yield { kind: 'call', at, id: `call_${randomBytes(12).toString('base64url')}`, name: call.name };
      yield { kind: 'arguments', at, text: call.arguments };
    }
    yield { kind: 'end', reason: held.calls.length > 0 && reason === 'stop' ? 'tool_calls' : reason };
  }
}

function logprobOf({ bytes, logprob }: TokenChoice): TokenLogprob {
  return { token: Buffer.from(bytes).toString('utf8'), logprob, bytes: [...bytes] };
}
