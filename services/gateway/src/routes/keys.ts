// `POST /keys`: free keys without an account, if the operator enables them, so that new users only need a browser.
import { countedNetworks } from '@strata/http';
import { CompletionError } from '@strata/inference';
import { RateLimiter } from '@strata/limits';
import type { FastifyRequest } from 'fastify';
import { restOfDay, TIER_LIMITS } from '../limits/limits.ts';
import { type GatewayApp, route } from './route.ts';

/** Requests per address (more for its networks); requests above the limit cause no database query. */
const REQUEST_LIMIT = { limit: 10, period: 60_000, refill: 'window' } as const;
/** No body is needed; clients send `{}`. */
const BODY_BYTES = 1_024;

export const newKeyRequests = (now: () => Date) => new RateLimiter({ ...REQUEST_LIMIT, now: () => now().getTime() });

export const createKey = route(
  {
    method: 'POST',
    path: '/keys',
    access: 'open',
    admit: countRequest,
    bodyBytes: BODY_BYTES,
    described: {
      summary: 'Get a free API key',
      description:
        'No account or request body is needed. The key is returned once; only its hash is stored. Limited per address (IPv6: per /64 prefix) and UTC day. 404 if the operator has not enabled free keys, which are disabled by default.',
      status: 201,
      answer: 'NewKey',
    },
  },
  async ({ keys, freeKeysPerDay, now }, _input, { request, reply }) => {
    const issued = await keys.issue(countedNetworks(request.ip), { perDay: freeKeysPerDay });
    if (!issued)
      throw new CompletionError(
        'rate_limit',
        'The daily quota of free keys is used up for this address, its network or the service; it resets at 00:00 UTC.',
        { retryAfterMs: restOfDay(now()) },
      );
    const { requestsPerMinute, tokensPerMinute, tokensPerDay } = TIER_LIMITS.free;
    return reply.code(201).header('cache-control', 'no-store').send({
      key: issued.key,
      key_id: issued.stored.id,
      tier: issued.stored.tier,
      daily_limit: issued.stored.dailyLimit,
      requests_per_minute: requestsPerMinute,
      tokens_per_minute: tokensPerMinute,
      tokens_per_day: tokensPerDay,
    });
  },
);

/** Neither the body is read nor the database queried before the address is counted. */
function countRequest({ freeKeysPerDay, keyRequests, hostGuard }: GatewayApp, request: FastifyRequest): void {
  if (freeKeysPerDay === 0)
    throw new CompletionError(
      'not_found',
      'This gateway does not issue free keys; its operator creates keys with `strata inference keys create`.',
    );
  // The page would get a key in its visitor's name and use up the quota of the visitor's address. Not counted:
  // otherwise any page could use up its visitor's requests.
  if (hostGuard.isCrossSite(request))
    throw new CompletionError(
      'foreign_page',
      'Pages of other sites cannot get a key here; use the page of this gateway.',
    );
  const waitMs = keyRequests.take(countedNetworks(request.ip));
  if (waitMs > 0)
    throw new CompletionError(
      'rate_limit',
      'Too many requests for free keys from this address, its network or all clients.',
      { retryAfterMs: Math.ceil(waitMs / 1_000) * 1_000 },
    );
}
