// Sends problem responses: logs internal errors and signs the body. The body is sent unsigned if signing fails.
import { RateLimiter } from '@strata/limits';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ThrottledLog } from '../operations/throttled-log.ts';
import { envelope, type Notary } from '../responses/notary.ts';
import { commonHeaders } from '../responses/send-answer.ts';
import type { ApiKey } from '../route.ts';
import { Refusal } from './errors.ts';
import { problemOf, sharedProblem, type UnavailableDetail } from './problem.ts';

const DAY_MS = 86_400_000;

type SendProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Each distinct body is a permanent leaf in the ledger. Therefore callers without a valid key all get the same body for
 * a code, and a key with a limit gets at most as many individual bodies per day as requests: refused requests do not
 * count in its quota.
 */
export function createProblemSender(deps: {
  readonly notary: Notary;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly unavailableDetail?: UnavailableDetail | undefined;
  /** The valid key of a request; undefined also if the lookup failed. Never rejects. */
  readonly callerOf: (request: FastifyRequest) => Promise<ApiKey | undefined>;
}): SendProblem {
  const { notary, logger, now, unavailableDetail, callerOf } = deps;
  const throttled = new ThrottledLog(logger);
  /** Bugs are always logged; failures of this machine are throttled. */
  const report = (error: unknown, where: object, message: string) => {
    const log = unavailableDetail?.(error) !== undefined ? throttled.of(error) : logger;
    log?.error({ ...where, err: error }, message);
  };
  const own = new RateLimiter({ limit: 1, period: DAY_MS, refill: 'window', now: () => now().getTime() });
  const hasOwn = (caller: ApiKey | undefined) =>
    caller !== undefined &&
    (caller.dailyLimit === null || own.take([{ name: caller.id, times: caller.dailyLimit }]) === 0);
  return async (error, request, reply) => {
    const { problem, headers } = problemOf(error, request.id, unavailableDetail);
    const isOwn = hasOwn(await callerOf(request));
    const where = { requestId: request.id, path: request.url.slice(0, 200) };
    const { status, code, detail } = problem;
    // Refusals are expected, whatever their status; anything else is a bug.
    if (status >= 500 && !(error instanceof Refusal)) report(error, where, 'request failed');
    else if (!isOwn) throttled.refused(request, { code, detail });
    else if (status >= 500) logger.warn({ ...where, code, detail }, 'request refused');
    const body = envelope(isOwn ? problem : sharedProblem(problem));
    // If the ledger cannot accept a leaf, the problem is sent without a receipt.
    const sent = await (isOwn ? notary.sign(body) : notary.signOnce(body)).catch((cause: unknown) => {
      report(cause, { requestId: request.id }, 'signing a problem response failed');
      return JSON.stringify(body);
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
      .send(sent);
  };
}
