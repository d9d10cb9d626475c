// A problem on its way out: logged when it is ours, signed like every answer, and told in any case.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { countedAddress } from './counted-address.ts';
import { Refusal } from './errors.ts';
import { envelope, type Notary } from './notary.ts';
import { type IsTrouble, problemOf } from './problem.ts';
import { RateWindow } from './rate-window.ts';
import { commonHeaders } from './respond.ts';
import { SeldomTold } from './seldom-told.ts';

/**
 * Signed problems of one address. Each has a leaf in the ledger, for ever, and needs no key: beyond this they are told without
 * a receipt, else whoever mistypes a path often enough fills the disk.
 */
const SIGNED = { limit: 2_000, windowMs: 60_000 } as const;

export type SendProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

export function createProblemSender(parts: {
  readonly notary: Notary;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly isTrouble?: IsTrouble | undefined;
  /** Whose problems are always signed: those with a key that the operator made without a limit. */
  readonly isUnlimited: (request: FastifyRequest) => boolean;
}): SendProblem {
  const { notary, logger, now, isTrouble, isUnlimited } = parts;
  const seldom = new SeldomTold();
  /** What a bug does is told each time; trouble of this machine now and then. */
  const tell = (error: unknown, where: object, message: string) => {
    const untold = isTrouble?.(error) ? seldom.take(error) : 0;
    if (untold !== undefined) logger.error({ ...where, err: error, ...(untold > 0 && { untold }) }, message);
  };
  const signed = new RateWindow({ ...SIGNED, now });
  return async (error, request, reply) => {
    const { problem, headers } = problemOf(error, request.id, isTrouble);
    const where = { requestId: request.id, path: request.url.slice(0, 200) };
    // A refusal was foreseen, whatever its status; anything else is a bug.
    if (problem.status >= 500 && error instanceof Refusal) {
      logger.warn({ ...where, code: problem.code, detail: problem.detail }, 'request refused');
    } else if (problem.status >= 500) tell(error, where, 'request failed');
    const isSigned = isUnlimited(request) || signed.take(countedAddress(request.ip)) === 0;
    // A problem that the ledger cannot take any more still has to be told, without a receipt.
    const body = isSigned
      ? await notary.sign(envelope(problem)).catch((cause: unknown) => {
          tell(cause, { requestId: request.id }, 'a problem could not be signed');
          return envelope(problem);
        })
      : envelope(problem);
    return reply
      .code(problem.status)
      .headers({
        ...commonHeaders,
        ...headers,
        'content-type': 'application/problem+json; charset=utf-8',
        'cache-control': 'no-store',
        'x-request-id': request.id,
      })
      .send(JSON.stringify(body));
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
