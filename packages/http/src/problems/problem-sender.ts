// Sends problem responses: logs internal errors and signs the body. Sent unsigned if signing fails.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { RefusalLog } from '../access/refusal-log.ts';
import { RateWindow } from '../limits/rate-window.ts';
import { ThrottledReport } from '../operations/throttled-report.ts';
import { envelope, type Notary } from '../responses/notary.ts';
import { commonHeaders } from '../responses/send-answer.ts';
import type { ApiKey } from '../route.ts';
import { Refusal } from './errors.ts';
import { type IsTrouble, problemOf, sharedProblem } from './problem.ts';

const DAY_MS = 86_400_000;

export type SendProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Each different body has a leaf in the ledger, for ever. So callers without a valid key all get the same body for a code, and a key
 * with a limit gets as many bodies of its own in a day as it has requests: refused requests are not counted in its quota.
 */
export function createProblemSender(parts: {
  readonly notary: Notary;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly isTrouble?: IsTrouble | undefined;
  /** The valid key of a request; undefined also where it could not be looked up. Never rejects. */
  readonly callerOf: (request: FastifyRequest) => Promise<ApiKey | undefined>;
}): SendProblem {
  const { notary, logger, now, isTrouble, callerOf } = parts;
  const seldom = new ThrottledReport();
  /** What a bug does is told each time; trouble of this machine now and then. */
  const report = (error: unknown, where: object, message: string) => {
    const unreported = isTrouble?.(error) ? seldom.take(error) : 0;
    if (unreported !== undefined)
      logger.error({ ...where, err: error, ...(unreported > 0 && { unreported }) }, message);
  };
  const shared = new RefusalLog(logger);
  const own = new RateWindow({ limit: 1, windowMs: DAY_MS, now });
  const hasOwn = (caller: ApiKey | undefined) =>
    caller !== undefined &&
    (caller.dailyLimit === null || own.take([{ name: caller.id, times: caller.dailyLimit }]) === 0);
  return async (error, request, reply) => {
    const { problem, headers } = problemOf(error, request.id, isTrouble);
    const isOwn = hasOwn(await callerOf(request));
    const where = { requestId: request.id, path: request.url.slice(0, 200) };
    const { status, code, detail } = problem;
    // A refusal was foreseen, whatever its status; anything else is a bug.
    if (status >= 500 && !(error instanceof Refusal)) report(error, where, 'request failed');
    else if (!isOwn) shared.note(request, { code, detail });
    else if (status >= 500) logger.warn({ ...where, code, detail }, 'request refused');
    const body = envelope(isOwn ? problem : sharedProblem(problem));
    // A problem that the ledger cannot take any more still has to be told, without a receipt.
    const sent = await (isOwn ? notary.sign(body) : notary.signOnce(body)).catch((cause: unknown) => {
      report(cause, { requestId: request.id }, 'a problem could not be signed');
      return body;
    });
    return reply
      .code(status)
      .headers({
        ...commonHeaders,
        ...headers,
        'content-type': 'application/problem+json; charset=utf-8',
        'cache-control': 'no-store',
        'x-request-id': request.id,
      })
      .send(JSON.stringify(sent));
  };
}

const unreadStatus: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** Not HTTP at all, headers beyond Node's limit, or too slow: there is no request to answer with a signed problem. */
export function refuseUnread({ code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  const status = unreadStatus[code] ?? '400 Bad Request';
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  else socket.destroy();
}
