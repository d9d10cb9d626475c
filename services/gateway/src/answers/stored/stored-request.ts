// The request of a stored answer, as its first part has it: what a gateway needs to go on with the answer.
import { deserialize } from 'node:v8';
import { randomPart } from '@strata/db';
import {
  type AnswerHead,
  type ChatRequest,
  CompletionError,
  type CompletionRequest,
  type Generation,
  type ResponseFacts,
} from '@strata/inference';
import type { GatewayKey } from '../../store/access/policy.ts';
import type { StoredPart } from '../../store/answers/stored-writes.ts';
import type { GatewayStore } from '../../store/index.ts';
import type { AnswerRequest } from '../answer-run.ts';
import type { ChoiceDeps, Plan } from '../backend.ts';
import type { Models, ServedModel } from '../models.ts';
import type { AnswerStart } from '../receipts/answer-receipt.ts';
import { AnswerCipher } from './answer-cipher.ts';
import { type AnswerLog, type LogEntry, overIn } from './answer-log.ts';

/** The workers of a model may be back in a moment. */
const RETRY_MS = 1_000;

export type AskedAnswer =
  | { readonly kind: 'chat'; readonly asked: ChatRequest }
  | { readonly kind: 'text'; readonly asked: CompletionRequest }
  | { readonly kind: 'response'; readonly asked: ResponseFacts };

export type StoredRequest = AskedAnswer & { readonly head: AnswerHead; readonly start: AnswerStart };

/** A key as its client sends it, which decrypts its answers. */
export interface Reader {
  readonly caller: GatewayKey;
  readonly apiKey: string;
}

/** An answer, to be read with `StoredAnswers`. */
export interface StoredAnswer extends Reader {
  readonly id: string;
  readonly receiptId: string;
  readonly request: StoredRequest;
  readonly cipher: AnswerCipher;
}

/** An answer that this gateway generates. */
export interface RunningAnswer {
  readonly log: AnswerLog;
  /** Why it was left to another gateway while this one goes on: its readers come back elsewhere. */
  left?: CompletionError;
  /** Resolves when it has ended here, and its beginning is recorded or refused. */
  over?: Promise<void>;
  readonly cancel: () => void;
}

export interface PlannedAnswer extends Pick<AnswerRequest, 'plan' | 'reservation'> {
  readonly model: ServedModel;
}

/** An answer to go on with: its next part, and what the earlier ones have. */
export interface BegunAnswer extends PlannedAnswer {
  readonly number: number;
  readonly entries: readonly LogEntry[];
  readonly size: number;
  readonly isCancelled?: boolean;
  /** Of a new answer: records its beginning, with its first part if there is one. */
  readonly begin?: (first: StoredPart | undefined) => Promise<void>;
}

/** Rejects with CompletionError `not_found` if this key has no such answer. */
export async function findAnswer(
  stored: Pick<GatewayStore['stored'], 'read'>,
  id: string,
  reader: Reader,
): Promise<StoredAnswer> {
  const state = await stored.read(id, reader.caller.id, { from: 0, limit: 1 });
  const [part] = state?.parts ?? [];
  if (!state || part?.number !== 0) throw notFound();
  const cipher = new AnswerCipher(reader.apiKey, id);
  const bytes = cipher.tryOpen(0, part.body);
  if (!bytes) throw notFound();
  // Encrypted by `StoredAnswers`, with this key.
  const request = deserialize(bytes) as StoredRequest;
  return { ...reader, id, receiptId: state.receiptId, request, cipher };
}

/** The model and the plan of its answer. Rejects with CompletionError if this gateway does not serve the same model at present. */
export async function planAgain(
  models: Models,
  request: StoredRequest,
): Promise<Pick<PlannedAnswer, 'model' | 'plan'>> {
  const { id, sha256 } = request.start.model;
  const model = models.get(id);
  if (model.backend.facts.sha256 !== sha256)
    throw new CompletionError('overloaded', `The model '${id}' of this answer is not available at present.`, {
      retryAfterMs: RETRY_MS,
    });
  return { model, plan: await planOf(model, request) };
}

/** Rejects with CompletionError for a request that the model cannot process. */
export const planOf = ({ backend }: ServedModel, request: AskedAnswer): Promise<Plan> =>
  request.kind === 'text'
    ? backend.planText(request.asked)
    : backend.planChat(request.kind === 'response' ? request.asked.chat : request.asked);

export const generationOf = (request: AskedAnswer) =>
  request.kind === 'response' ? request.asked.chat : request.asked;

/** Whether the client has the id of the answer before its end. */
export const isResumable = (request: AskedAnswer): boolean =>
  generationOf(request).isStreamed || (request.kind === 'response' && request.asked.isBackground);

/** With a seed if it has none, so that another gateway that continues the answer draws the same tokens. */
export function withSeed(request: AskedAnswer): AskedAnswer {
  const seed = Buffer.from(randomPart(4)).readUInt32LE();
  const seeded = <Asked extends Generation>(asked: Asked): Asked => ({
    ...asked,
    sampling: { ...asked.sampling, seed: asked.sampling.seed ?? seed },
  });
  if (request.kind === 'text') return { ...request, asked: seeded(request.asked) };
  if (request.kind === 'chat') return { ...request, asked: seeded(request.asked) };
  return { ...request, asked: { ...request.asked, chat: seeded(request.asked.chat) } };
}

/** The plan of an answer with these entries. Without tokens only a choice that has ended, or without content, is the same. */
export function continuing(plan: Plan, entries: readonly LogEntry[]): Plan {
  if (plan.isContinuable || entries.length === 0) return plan;
  const over = overIn(entries.at(-1));
  const choices = plan.choices.map(({ prompt, deltas }, index) => ({
    prompt,
    deltas: async function* (deps: ChoiceDeps) {
      if (over && index === 0) Object.assign(deps.usage, over.usage);
      const steps = entries.flatMap((entry) => ('over' in entry || entry.choice !== index ? [] : [entry.deltas]));
      yield* steps;
      const last = steps.flat().at(-1)?.kind;
      if (last === 'end') return;
      if (over || (last && last !== 'begin'))
        throw new CompletionError(
          'engine_failed',
          'The gateway of this answer has ended; an upstream cannot continue it.',
        );
      for await (const made of deltas(deps)) {
        const fresh = made.filter(({ kind }) => kind !== last);
        if (fresh.length > 0) yield fresh;
      }
    },
  }));
  return { ...plan, choices };
}

export const notFound = () =>
  new CompletionError('not_found', 'This key has no such answer. Answers are stored with `store: true`, for an hour.');
