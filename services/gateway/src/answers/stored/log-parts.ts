// The entries of a log as the JSON of a stored part: compact, as each is encrypted, written, read and deleted.
import type { ChatDelta } from '@strata/inference';
import type { StoredState } from '../../store/index.ts';
import type { AnswerCipher } from './answer-cipher.ts';
import { type AnswerStep, type LogEntry, overIn, type StepToken } from './answer-log.ts';

type Choice = readonly [token: number, bytes: string, logprob: number];

/** Bytes as Latin-1: null if they are the text; one text alone as a string. */
type StepValue = readonly [
  choice: number,
  deltas: string | readonly ChatDelta[],
  token?: number | null | undefined,
  bytes?: string | null | undefined,
  rest?: {
    readonly logprob?: number | undefined;
    readonly top?: readonly Choice[] | undefined;
    readonly cachedTokens?: number | undefined;
    readonly firstTokenAt?: number | undefined;
  },
];
type EntryValue = StepValue | Extract<LogEntry, { readonly over: unknown }>;

export const bytesOf = (entries: readonly LogEntry[]): Uint8Array =>
  Buffer.from(JSON.stringify(entries.map((entry) => ('over' in entry ? entry : toValue(entry)))));

export const entriesOf = (bytes: Uint8Array): readonly LogEntry[] =>
  // Made by `bytesOf`.
  (JSON.parse(Buffer.from(bytes).toString()) as EntryValue[]).map((value) => ('over' in value ? value : toStep(value)));

function toValue({ choice, deltas, token: made, cachedTokens, firstTokenAt }: AnswerStep): StepValue {
  const [only, second] = deltas;
  const isText = only?.kind === 'text' && only.logprobs === undefined && second === undefined;
  const shown = isText ? only.text : deltas;
  if (!made && cachedTokens === undefined && !firstTokenAt) return [choice, shown];
  const { token, logprob, top } = made ?? {};
  const latin1 = made && latin1Of(made.bytes);
  const bytes = latin1 === shown ? undefined : latin1;
  if (logprob !== undefined || cachedTokens !== undefined || firstTokenAt) {
    const chosen = top?.map((each) => [each.token, latin1Of(each.bytes), each.logprob] as const);
    return [choice, shown, token, bytes, { logprob, top: chosen, cachedTokens, firstTokenAt: firstTokenAt?.getTime() }];
  }
  return bytes === undefined ? [choice, shown, token] : [choice, shown, token, bytes];
}

function toStep([choice, shown, token, bytes, rest]: StepValue): AnswerStep {
  const { logprob, top, cachedTokens, firstTokenAt } = rest ?? {};
  const chosen = top?.map(([id, latin1, each]) => ({ token: id, bytes: Buffer.from(latin1, 'latin1'), logprob: each }));
  const made = (id: number): StepToken => ({
    token: id,
    bytes: Buffer.from(bytes ?? String(shown), 'latin1'),
    ...(logprob === undefined ? {} : { logprob }),
    ...(chosen && { top: chosen }),
  });
  return {
    choice,
    deltas: typeof shown === 'string' ? [{ kind: 'text', text: shown }] : shown,
    token: typeof token === 'number' ? made(token) : undefined,
    cachedTokens,
    firstTokenAt: firstTokenAt === undefined ? undefined : new Date(firstTokenAt),
  };
}

const latin1Of = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString('latin1');

export const entriesIn = (cipher: AnswerCipher, { parts }: StoredState): readonly LogEntry[] =>
  parts.flatMap(({ number, body }) => entriesOf(cipher.open(number, body)));

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
