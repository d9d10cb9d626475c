// Stored answers of requests: started, continued after the event that a client has received last, and read as responses.
import { CompletionError, type OutputItem } from '@strata/inference';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ServedModel } from '../../answers/models.ts';
import { overIn } from '../../answers/stored/answer-log.ts';
import type { Reader, StoredAnswer } from '../../answers/stored/stored-answers.ts';
import { errorOf, StoredResponse, storedEvents } from '../../answers/stored/stored-events.ts';
import { type AskedAnswer, planOf, type StoredRequest, withSeed } from '../../answers/stored/stored-request.ts';
import { presentedKey } from '../../limits/authentication.ts';
import type { Exchange, GatewayApp } from '../route.ts';
import { clientSignal, prepare, receiptHeaders, streaming } from './answering.ts';

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

/** The answer that a request with `Last-Event-ID` continues, as its stream; undefined without that header. */
export async function resumed(app: GatewayApp, exchange: Exchange): Promise<FastifyReply | undefined> {
  const last = lastEventOf(exchange.request);
  if (!last) return undefined;
  const answer = await app.storedAnswers.find(last.id, readerOf(exchange.request));
  return sendStored(app, exchange, { answer, after: last.number });
}

/** The answer and the number of the last event that the client has received. */
export function lastEventOf({ headers }: FastifyRequest): { readonly id: string; readonly number: number } | undefined {
  const given = headers['last-event-id'];
  if (given === undefined || given === '') return undefined;
  const [, id, number] = /^((?:resp_|chatcmpl-|cmpl-)[\w-]{1,64}):(\d{1,9})$/.exec(String(given)) ?? [];
  if (id !== undefined) return { id, number: Number(number) };
  throw new CompletionError('invalid_value', 'This is not the id of an event of a stored answer.', {
    param: 'Last-Event-ID',
  });
}

/**
 * Streams the events of an answer after a number. If it ends without the last event, the client asks again: any gateway
 * continues.
 */
export function sendStored(
  app: GatewayApp,
  { request, reply }: Exchange,
  { answer, after = -1 }: { readonly answer: StoredAnswer; readonly after?: number | undefined },
): Promise<FastifyReply> {
  const { signal, leave } = clientSignal(reply);
  reply.headers(receiptHeaders(answer.receiptId, answer.request.start));
  return streaming(
    { request, reply, signal, leave, logger: app.logger },
    {
      send: async (writer) => {
        const events = storedEvents(answer.request, keeping(app, answer));
        let number = 0;
        for await (const entries of app.storedAnswers.follow(answer, signal)) {
          const numbered = entries
            .flatMap((entry) => events.of(entry))
            .map((event) => ({ id: `${answer.id}:${number}`, number: number++, event }));
          const wanted = numbered.filter((each) => each.number > after);
          if (wanted.length > 0) await writer.sendNumbered(wanted);
        }
        await writer.sendNumbered([]);
      },
    },
  );
}

type StoredResponseAnswer = StoredAnswer & { readonly request: Extract<StoredRequest, { readonly kind: 'response' }> };

/** Rejects with CompletionError `not_found` if this key has no such response. */
export async function findResponse(
  app: GatewayApp,
  request: FastifyRequest,
  id: string,
): Promise<StoredResponseAnswer> {
  const answer = await app.storedAnswers.find(id, readerOf(request));
  if (isResponse(answer)) return answer;
  throw new CompletionError('not_found', `'${id}' is not the id of a response.`);
}

const isResponse = (answer: StoredAnswer): answer is StoredResponseAnswer => answer.request.kind === 'response';

/** Resolves when an answer is over; rejects with its error if it failed. */
export async function untilOver(app: GatewayApp, answer: StoredAnswer, signal: AbortSignal): Promise<void> {
  for await (const entries of app.storedAnswers.follow(answer, signal)) {
    const over = overIn(entries.at(-1));
    if (over?.outcome === 'failed') throw errorOf(over.error);
  }
}

/** The response object of an answer so far. */
export async function storedResponse(app: GatewayApp, answer: StoredAnswer): Promise<object> {
  if (!isResponse(answer)) throw new Error('the answer is not a response');
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
