// The entries of a log as the JSON of a stored part: compact, as each is encrypted, written, read and deleted.
import { deserialize } from 'node:v8';
import { type ChatDelta, CompletionError } from '@strata/inference';
import { z } from 'zod';
import type { StoredState } from '../../store/index.ts';
import type { AnswerCipher } from './answer-cipher.ts';
import { type AnswerOver, type AnswerStep, type LogEntry, overIn, type StepToken } from './answer-log.ts';

// Only a gateway can have encrypted these: the kinds are checked, as another version may have more.
const delta = z.custom<ChatDelta>((value) => KIND.safeParse(value).success);
const KIND = z.looseObject({ kind: z.enum(['begin', 'text', 'reasoning', 'call', 'arguments', 'end']) });
const over = z.custom<AnswerOver>((value) => OUTCOME.safeParse(value).success);
const OUTCOME = z.looseObject({ outcome: z.enum(['completed', 'cancelled', 'failed']) });
/** A token, its bytes as Latin-1, and its log-probability. */
const tokenChoice = z.tuple([z.int(), z.string(), z.number()]);
/** One text alone as a string. */
const deltas = z.union([z.string(), z.array(delta).readonly()]);
/** The choice, its deltas, a token, and its bytes as Latin-1: null if they are the text. */
const step = z.tuple([
  z.int(),
  deltas,
  z.int().nullish(),
  z.string().nullish(),
  z
    .object({ logprob: z.number(), top: z.array(tokenChoice), cachedTokens: z.int(), firstTokenAt: z.int() })
    .partial()
    .optional(),
]);
type StepValue = z.output<typeof step>;
/** As versions without JSON wrote it. */
const earlierStep = z
  .tuple([
    z.int(),
    deltas,
    tokenChoice.optional(),
    z.array(tokenChoice).optional(),
    z.object({ cachedTokens: z.int().optional(), firstTokenAt: z.date().optional() }).optional(),
  ])
  .transform(([choice, shown, made, top, { cachedTokens, firstTokenAt } = {}]): StepValue => {
    const rest = { logprob: made?.[2], top, cachedTokens, firstTokenAt: firstTokenAt?.getTime() };
    return [choice, shown, made?.[0], made?.[1], rest];
  });
const part = z.array(z.union([step, z.object({ over }), earlierStep]));

export const bytesOf = (entries: readonly LogEntry[]): Uint8Array =>
  Buffer.from(JSON.stringify(entries.map((entry) => ('over' in entry ? entry : toValue(entry)))));

/** Throws CompletionError for a part in the form of another version. */
export function entriesOf(bytes: Uint8Array): readonly LogEntry[] {
  const isJson = bytes[0] === 0x5b; // `[`: the header of `node:v8` begins with 0xff
  const { data } = part.safeParse(isJson ? JSON.parse(Buffer.from(bytes).toString()) : deserialize(bytes));
  if (!data) throw new CompletionError('engine_failed', 'This answer was stored by another version of the gateway.');
  return data.map((value) => ('over' in value ? value : toStep(value)));
}

function toValue({ choice, deltas, token: made, cachedTokens, firstTokenAt }: AnswerStep): StepValue {
  const [only, second] = deltas;
  const isText = only?.kind === 'text' && only.logprobs === undefined && second === undefined;
  const shown = isText ? only.text : deltas;
  if (!made && cachedTokens === undefined && !firstTokenAt) return [choice, shown];
  const { token, logprob, top } = made ?? {};
  const latin1 = made && latin1Of(made.bytes);
  const bytes = latin1 === shown ? undefined : latin1;
  if (logprob !== undefined || cachedTokens !== undefined || firstTokenAt) {
    const chosen = top?.map((each) => [each.token, latin1Of(each.bytes), each.logprob] as [number, string, number]);
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

export const entriesIn = (cipher: AnswerCipher, { parts }: Pick<StoredState, 'parts'>): readonly LogEntry[] =>
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
