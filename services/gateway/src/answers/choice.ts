// Generates one choice: tokens to text, stop strings, reasoning, tool calls, log-probabilities.
import { randomText } from '@strata/db';
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
 * The deltas of a choice, from `begin` to `end`, those of one token at a time. The engine stops when the consumer stops
 * reading. Engine errors that the request caused become client errors.
 */
export async function* choiceDeltas(
  engine: Engine,
  job: Job,
  options: ChoiceOptions,
): AsyncGenerator<readonly ChatDelta[]> {
  const { stops, controls, isCallForced, signal, usage, context, stored } = options;
  const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
  let decoder = newDecoder();
  const scanner = new StopScanner(stops);
  const reader = options.reader?.();
  /** With the positions of their ends in the text. */
  let logprobs: (ChosenLogprob & { readonly end: number })[] = [];
  /** Whether the next text follows what is not text. */
  let isAfterMark = false;
  let reason: FinishReason = 'stop';
  /** Of tokens whose text is in the scanner. */
  let due: ChosenLogprob[] = [];
  /** Of text without a reader. */
  let length = 0;
  let hasCalls = false;
  let isStopped = false;

  const outputDeltas = (deltas: readonly OutputDelta[]): ChatDelta[] =>
    deltas.flatMap((delta): ChatDelta[] => {
      if (isStopped) return [];
      if (delta.kind === 'text') return contentDeltas(delta);
      const before = textDeltas(scanner.end());
      isAfterMark = true;
      if (delta.kind === 'reasoning') return [...before, delta];
      hasCalls = true;
      if (delta.kind === 'arguments') return [...before, delta];
      return [...before, { ...delta, id: `call_${randomText(12)}` }];
    });
  const textDeltas = (text: string, isShown = !isCallForced): ChatDelta[] => {
    if (text === '') return [];
    const shown = due;
    due = [];
    // An answer that must be a call has no text but reasoning, even if it was cut off.
    if (!isShown) return [];
    return [{ kind: 'text', text, ...(job.topLogprobs === undefined ? {} : { logprobs: shown }) }];
  };
  /** Stop strings are those of the content. */
  const contentDeltas = (content: Omit<Extract<OutputDelta, { kind: 'text' }>, 'kind'>): ChatDelta[] => {
    const before = content.isReasoning ? textDeltas(scanner.end()) : [];
    if (isAfterMark) dropLogprobs(content.end - content.text.length);
    isAfterMark = false;
    const rest = logprobs.findIndex((_, at) => (logprobs[at - 1]?.end ?? 0) >= content.end);
    const count = rest < 0 ? logprobs.length : rest;
    for (const { end: _, ...each } of logprobs.splice(0, count)) due.push(each);
    if (content.isReasoning) return [...before, ...textDeltas(content.text, true)];
    const { text, stop } = scanner.push(content.text);
    isStopped ||= stop !== undefined && !isCallForced;
    return textDeltas(text);
  };
  /** Forgets the tokens before this position. */
  const dropLogprobs = (position: number): void => {
    const rest = logprobs.findIndex(({ end }) => end > position);
    if (rest !== 0) logprobs = rest < 0 ? [] : logprobs.slice(rest);
  };

  let hasBegun = false;
  try {
    for await (const event of stored?.events(engine, job, { signal, context }) ??
      engine.generate(job, signal, context)) {
      stored?.received(event, job);
      if (event.kind === 'begin') {
        usage.cachedTokens = event.cachedTokens;
        yield beginning();
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
        yield [...textDeltas(scanner.end()), ...outputDeltas(reader.push(control, { isControl: true }))];
        isAfterMark = true;
        if (wasReasoning || reader.isReasoning) countReasoning();
        if (isStopped) break;
        continue;
      }
      const text = decoder.decode(event.bytes, { stream: true });
      length += text.length;
      const deltas = reader?.push(text);
      // A token within a character belongs to the character that follows.
      const end = (reader?.length ?? length) + (text === '' ? 1 : 0);
      if (job.topLogprobs !== undefined)
        logprobs.push({ ...logprobOf(event), top_logprobs: (event.top ?? []).map(logprobOf), end });
      yield deltas ? outputDeltas(deltas) : contentDeltas({ text, end: length });
      if (isAfterMark && reader) dropLogprobs(reader.kept);
      if (wasReasoning || reader?.isReasoning) countReasoning();
      if (isStopped) break;
    }
  } catch (error) {
    throw asClientError(error, options.grammarParam);
  }
  if (!hasBegun) yield beginning();
  // An incomplete character at the end is dropped.
  const rest = [...(reader ? outputDeltas(reader.end()) : []), ...textDeltas(scanner.end())];
  yield [...rest, { kind: 'end', reason: hasCalls && reason === 'stop' ? 'tool_calls' : reason }];

  function countReasoning(): void {
    usage.reasoningTokens = (usage.reasoningTokens ?? 0) + 1;
  }

  function beginning(): ChatDelta[] {
    hasBegun = true;
    return [{ kind: 'begin' }, ...(options.echo === undefined ? [] : [{ kind: 'text', text: options.echo } as const])];
  }
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
