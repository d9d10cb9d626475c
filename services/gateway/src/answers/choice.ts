// Generates one choice: tokens to text, stop strings, reasoning, tool calls, log-probabilities.
import { type Engine, EngineError, type Job, type TokenChoice } from '@strata/engine';
import {
  type ChatDelta,
  type ChosenLogprob,
  CompletionError,
  type FinishReason,
  type OutputDelta,
  type OutputReader,
  StopScanner,
  type TokenLogprob,
} from '@strata/inference';
import { randomText } from '../store/random-ids.ts';
import type { ChoiceDeps } from './backend.ts';

export interface ChoiceOptions extends ChoiceDeps {
  readonly stops: readonly string[];
  /** Separates reasoning and calls from the text; absent: all is text. */
  readonly reader?: (() => OutputReader) | undefined;
  /** Control tokens that mean something to the reader, with their texts; the rest are not text. */
  readonly controls?: ReadonlyMap<number, string>;
  /** Whether the answer consists of calls only. */
  readonly isCallForced: boolean;
  /** The prompt's text, if the answer begins with it. */
  readonly echo?: string | undefined;
  /** The parameter to report if the engine cannot enforce its schema. */
  readonly grammarParam: string;
}

/**
 * The deltas of a choice, from `begin` to `end`. The engine stops when the consumer stops reading. Engine errors that
 * the request caused become client errors.
 */
export async function* choiceDeltas(engine: Engine, job: Job, options: ChoiceOptions): AsyncGenerator<ChatDelta> {
  const { stops, controls, isCallForced, signal, usage, context } = options;
  const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
  let decoder = newDecoder();
  const scanner = new StopScanner(stops);
  const reader = options.reader?.();
  let logprobs: ChosenLogprob[] = [];
  /** Whether the next text follows what is not text: its tokens are not among the log-probabilities. */
  let isAfterMark = false;
  let reason: FinishReason = 'stop';
  let hasCalls = false;
  let isStopped = false;

  const outputDeltas = (deltas: readonly OutputDelta[]): ChatDelta[] =>
    deltas.flatMap((delta): ChatDelta[] => {
      if (isStopped) return [];
      if (delta.kind === 'text') return contentDeltas(delta.text);
      const before = textDeltas(scanner.end());
      isAfterMark = true;
      logprobs = [];
      if (delta.kind === 'reasoning') return [...before, delta];
      hasCalls = true;
      if (delta.kind === 'arguments') return [...before, delta];
      return [...before, { ...delta, id: `call_${randomText(12)}` }];
    });
  const textDeltas = (text: string): ChatDelta[] => {
    // An answer that must be a call has no text, even if it was cut off.
    if (text === '' || isCallForced) return [];
    if (isAfterMark) logprobs = logprobsOf(text, logprobs);
    isAfterMark = false;
    const delta = { kind: 'text', text, ...(job.topLogprobs === undefined ? {} : { logprobs }) } as const;
    logprobs = [];
    return [delta];
  };
  /** Stop strings are those of the content. */
  const contentDeltas = (content: string): ChatDelta[] => {
    const { text, stop } = scanner.push(content);
    isStopped ||= stop !== undefined && !isCallForced;
    return textDeltas(text);
  };
  const deltasOf = (text: string) => (reader ? outputDeltas(reader.push(text)) : contentDeltas(text));

  let hasBegun = false;
  try {
    for await (const event of engine.generate(job, signal, context)) {
      if (event.kind === 'begin') {
        usage.cachedTokens = event.cachedTokens;
        yield* beginning();
        continue;
      }
      if (event.kind === 'end') {
        reason = event.reason;
        break;
      }
      usage.completionTokens += 1;
      const wasReasoning = reader?.isReasoning;
      const control = controls?.get(event.token);
      if (control !== undefined && reader) {
        // Neither a character nor a stop string spans a control token.
        decoder = newDecoder();
        yield* textDeltas(scanner.end());
        yield* outputDeltas(reader.push(control, { isControl: true }));
        isAfterMark = true;
        if (wasReasoning || reader.isReasoning) countReasoning();
        if (isStopped) break;
        continue;
      }
      if (job.topLogprobs !== undefined)
        logprobs.push({ ...logprobOf(event), top_logprobs: (event.top ?? []).map(logprobOf) });
      yield* deltasOf(decoder.decode(event.bytes, { stream: true }));
      if (wasReasoning || reader?.isReasoning) countReasoning();
      if (isStopped) break;
    }
  } catch (error) {
    throw asClientError(error, options.grammarParam);
  }
  if (!hasBegun) yield* beginning();
  // An incomplete character at the end is dropped.
  if (reader) yield* outputDeltas(reader.end());
  yield* textDeltas(scanner.end());
  yield { kind: 'end', reason: hasCalls && reason === 'stop' ? 'tool_calls' : reason };

  function countReasoning(): void {
    usage.reasoningTokens = (usage.reasoningTokens ?? 0) + 1;
  }

  function* beginning(): Generator<ChatDelta> {
    hasBegun = true;
    yield { kind: 'begin' };
    if (options.echo !== undefined) yield { kind: 'text', text: options.echo };
  }
}

/** The tokens that the text begins with: those before belong to a mark. */
function logprobsOf(text: string, logprobs: readonly ChosenLogprob[]): ChosenLogprob[] {
  for (let first = 0; first < logprobs.length; first += 1) {
    const rest = logprobs.slice(first);
    const joined = rest.map(({ token }) => token).join('');
    if (joined.startsWith(text) || text.startsWith(joined)) return rest;
  }
  return [...logprobs];
}

function logprobOf({ bytes, logprob }: TokenChoice): TokenLogprob {
  return { token: Buffer.from(bytes).toString('utf8'), logprob, bytes: [...bytes] };
}

function asClientError(cause: unknown, grammarParam: string): unknown {
  const code = cause instanceof EngineError ? cause.code : undefined;
  if (code === 'grammar-unusable')
    return new CompletionError('unsupported_value', 'The engine cannot enforce this schema.', {
      param: grammarParam,
      cause,
    });
  if (code === 'job-too-long')
    return new CompletionError('context_length', 'This request is too long for the engine.', { cause });
  return cause;
}
