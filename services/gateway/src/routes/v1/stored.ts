// Stored answers of requests: started, continued after the event that a client has received last, and read as responses or
// chat completions.
import { CompletionError, type OutputItem } from '@strata/inference';
import type { FastifyRequest } from 'fastify';
import type { NumberedEvent } from '../../answers/event-writer.ts';
import type { ServedModel } from '../../answers/models.ts';
import type { AnswerStart } from '../../answers/receipts/answer-receipt.ts';
import { saltedDigest } from '../../answers/receipts/salted-digest.ts';
import { type LogEntry, overIn } from '../../answers/stored/answer-log.ts';
import { chatCompletionOf, errorOf, StoredResponse, storedEvents } from '../../answers/stored/stored-events.ts';
import {
  type AskedAnswer,
  planOf,
  type Reader,
  type StoredAnswer,
  type StoredRequest,
  withSeed,
} from '../../answers/stored/stored-request.ts';
import { presentedKey } from '../../limits/authentication.ts';
import type { Exchange, GatewayApp } from '../route.ts';
import { clientSignal, disconnected, prepare, receiptHeaders, streaming } from './answering.ts';

/** Starts an answer that is generated whether its client stays connected or not. */
export async function startStored(
  app: GatewayApp,
  { request, reply }: Exchange,
  { model, prefix, ...given }: AskedAnswer & { readonly model: ServedModel; readonly prefix: string },
): Promise<StoredAnswer> {
  const asked = withSeed(given);
  const context = { request, reply, model, prefix };
  const { head, plan, reservation, start } = await prepare(app, context, () => planOf(model, asked));
  const stored = { ...asked, head, start };
  return app.storedAnswers.start(stored, { model, plan, reservation, ...readerOf(request) });
}

/** Whether a request has a `Last-Event-ID`: then the stream of its answer is continued after that event. */
export async function isResumed(app: GatewayApp, exchange: Exchange): Promise<boolean> {
  const { request } = exchange;
  const last = lastEventOf(request);
  if (!last) return false;
  const answer = await app.storedAnswers.find(last.id, readerOf(request));
  if (!isRepeated(request, answer.request.start)) throw ofAnother('of the answer to another request');
  await sendStored(app, exchange, { answer, after: last.number });
  return true;
}

/** Whether a request is the same as the one of a stored answer. */
function isRepeated({ routeOptions, repeatedBody }: FastifyRequest, { endpoint, salt, requestDigest }: AnswerStart) {
  return endpoint === routeOptions.url && repeatedBody && saltedDigest(salt, repeatedBody) === requestDigest;
}

/** The number of the last event that the client of a response has received; -1 for none. */
export function lastNumberOf(request: FastifyRequest, id: string): number | undefined {
  const last = lastEventOf(request);
  if (last && last.id !== id) throw ofAnother('of another response');
  return last?.number;
}

/** The answer and the number of the last event that the client has received; -1 for none, with the id of the answer alone. */
function lastEventOf({ headers }: FastifyRequest): { readonly id: string; readonly number: number } | undefined {
  const given = headers['last-event-id'];
  if (given === undefined || given === '') return undefined;
  const [, id, number = -1] = /^((?:resp_|chatcmpl-|cmpl-)[\w-]{1,64})(?::(\d{1,9}))?$/.exec(String(given)) ?? [];
  if (id !== undefined) return { id, number: Number(number) };
  throw new CompletionError('invalid_value', 'This is not the id of an event of a stored answer.', LAST_EVENT);
}

const LAST_EVENT = { param: 'Last-Event-ID' };
const ofAnother = (what: string) => new CompletionError('invalid_value', `This event is ${what}.`, LAST_EVENT);

/**
 * Streams the events of an answer after a number. If it ends without the last event, the client asks again: any gateway
 * continues. `isNew`: the headers, with the id, are sent before the first event. Otherwise an error before that has its status.
 */
export function sendStored(
  app: GatewayApp,
  { request, reply }: Exchange,
  {
    answer,
    after = -1,
    isNew = false,
  }: { readonly answer: StoredAnswer; readonly after?: number | undefined; readonly isNew?: boolean },
): Promise<void> {
  const { signal, leave } = clientSignal(reply);
  reply.headers({ ...receiptHeaders(answer.receiptId, answer.request.start), 'x-answer-id': answer.id });
  return streaming(
    { request, reply, signal, leave, logger: app.logger },
    {
      send: async (writer) => {
        if (isNew) await writer.sendNumbered([]);
        const events = storedEvents(answer.request, keeping(app, answer));
        let number = 0;
        for await (const entries of app.storedAnswers.follow(answer, signal)) {
          const wanted: NumberedEvent[] = [];
          for (const event of entries.flatMap((entry) => events.of(entry))) {
            if (number > after) wanted.push({ id: `${answer.id}:${number}`, event });
            number += 1;
          }
          if (wanted.length > 0) await writer.sendNumbered(wanted);
        }
        await writer.sendNumbered([]);
      },
    },
  );
}

type StoredAs<Kind extends StoredRequest['kind']> = StoredAnswer & {
  readonly request: Extract<StoredRequest, { readonly kind: Kind }>;
};

/** Rejects with CompletionError `not_found` if this key has no answer with this id of this kind. */
export async function findStored<Kind extends 'chat' | 'response'>(
  app: GatewayApp,
  request: FastifyRequest,
  { id, kind }: { readonly id: string; readonly kind: Kind },
): Promise<StoredAs<Kind>> {
  const answer = await app.storedAnswers.find(id, readerOf(request));
  if (isStoredAs(answer, kind)) return answer;
  throw new CompletionError('not_found', `'${id}' is not the id of a ${kind === 'chat' ? 'chat completion' : kind}.`);
}

const isStoredAs = <Kind extends StoredRequest['kind']>(answer: StoredAnswer, kind: Kind): answer is StoredAs<Kind> =>
  answer.request.kind === kind;

/** The chat completion of an answer, when it is over; rejects with its error if it failed. */
export async function storedChat(app: GatewayApp, { reply }: Exchange, answer: StoredAnswer): Promise<object> {
  if (!isStoredAs(answer, 'chat')) throw new Error('the answer is not a chat completion');
  const { signal } = clientSignal(reply);
  const entries: LogEntry[] = [];
  for await (const some of app.storedAnswers.follow(answer, signal)) entries.push(...some);
  if (signal.aborted) throw disconnected(signal.reason);
  const completion = chatCompletionOf(answer.request, entries);
  reply.headers(receiptHeaders(answer.receiptId, answer.request.start));
  return completion;
}

/** Resolves when an answer is over; rejects with its error if it failed. */
export async function untilOver(app: GatewayApp, answer: StoredAnswer, signal: AbortSignal): Promise<void> {
  for await (const entries of app.storedAnswers.follow(answer, signal)) {
    const over = overIn(entries.at(-1));
    if (over?.outcome === 'failed') throw errorOf(over.error);
  }
}

/** The response object of an answer so far. */
export async function storedResponse(app: GatewayApp, answer: StoredAnswer): Promise<object> {
  if (!isStoredAs(answer, 'response')) throw new Error('the answer is not a response');
  const response = new StoredResponse(answer.request, keeping(app, answer));
  for (const entry of await app.storedAnswers.entries(answer)) response.of(entry);
  return response.response;
}

function readerOf(request: FastifyRequest): Reader {
  return { caller: request.caller, apiKey: presentedKey(request.headers.authorization) ?? '' };
}

/** Later requests may refer to the items of a response. */
function keeping({ recentItems }: GatewayApp, { caller, request }: StoredAnswer): (item: OutputItem) => void {
  return (item) => {
    if (request.kind === 'response' && request.asked.isKept) recentItems.keep(caller.id, item);
  };
}
