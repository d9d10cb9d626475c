// The entries of a log as values of a stored part: compact, and without views of larger buffers.
import type { ChatDelta } from '@strata/inference';
import type { StoredState } from '../../store/index.ts';
import type { AnswerCipher } from './answer-cipher.ts';
import { type AnswerStep, type LogEntry, overIn } from './answer-log.ts';

type Token = NonNullable<AnswerStep['token']>;
type Choice = Pick<Token, 'token' | 'bytes' | 'logprob'>;
type ChoiceValue = readonly [token: number, bytes: string, logprob: number];

/** Bytes as Latin-1; one text alone as a string. */
type StepValue = readonly [
  choice: number,
  deltas: string | readonly ChatDelta[],
  token?: ChoiceValue | undefined,
  top?: readonly ChoiceValue[] | undefined,
  rest?: Pick<AnswerStep, 'cachedTokens' | 'firstTokenAt'> | undefined,
];
export type EntryValue = StepValue | Extract<LogEntry, { readonly over: unknown }>;

export function toValue(entry: LogEntry): EntryValue {
  if ('over' in entry) return entry;
  const { choice, deltas, token, cachedTokens, firstTokenAt } = entry;
  const [only, second] = deltas;
  const isText = only?.kind === 'text' && only.logprobs === undefined && second === undefined;
  const shown = isText ? only.text : deltas;
  const hasRest = cachedTokens !== undefined || firstTokenAt !== undefined;
  if (!token && !hasRest) return [choice, shown];
  const top = token?.top?.length ? token.top.map(chosen) : undefined;
  const rest = hasRest ? { cachedTokens, firstTokenAt } : undefined;
  return [choice, shown, token && chosen(token), top, rest];
}

export function toEntry(value: EntryValue): LogEntry {
  if ('over' in value) return value;
  const [choice, deltas, token, top, rest] = value;
  return {
    choice,
    deltas: typeof deltas === 'string' ? [{ kind: 'text', text: deltas }] : deltas,
    token: token && { kind: 'token', ...choiceOf(token), ...(top && { top: top.map(choiceOf) }) },
    ...rest,
  };
}

const chosen = ({ token, bytes, logprob }: Choice): ChoiceValue => [
  token,
  Buffer.from(bytes).toString('latin1'),
  logprob,
];
const choiceOf = ([token, bytes, logprob]: ChoiceValue): Choice => ({
  token,
  bytes: Buffer.from(bytes, 'latin1'),
  logprob,
});

export const entriesIn = (cipher: AnswerCipher, { parts }: StoredState): readonly LogEntry[] =>
  // Encrypted by `LogWriter`, with this key.
  parts.flatMap(({ number, body }) => (cipher.open(number, body) as EntryValue[]).map(toEntry));

/** What readers may have: the end only when the receipt is stored. An answer that is over without an end could not go on. */
export function readableIn({ owner }: StoredState, entries: readonly LogEntry[]): readonly LogEntry[] {
  const over = overIn(entries.at(-1));
  if (owner) return over ? entries.slice(0, -1) : entries;
  return over ? entries : [...entries, { over: INTERRUPTED }];
}

const INTERRUPTED = {
  outcome: 'failed',
  usage: { promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
  error: { kind: 'engine_failed', message: 'The answer was interrupted.', param: null },
} as const;
