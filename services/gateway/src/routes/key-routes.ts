// `POST /keys`: a free key for whoever asks, where the operator gives them away; so that a newcomer needs a browser alone.
import { countedNetworks, type FrontDoor, RateWindow } from '@strata/http';
import { CompletionError } from '@strata/inference';
import type { Store } from '@strata/store';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { restOfDay, TIER_LIMITS } from '../limits/limits.ts';

export interface KeyRouteDeps {
  readonly keys: Pick<Store['keys'], 'issue'>;
  /** Keys that one address may get in a UTC day; 0: none is given away. */
  readonly freeKeysPerDay: number;
  readonly now: () => Date;
  readonly frontDoor: Pick<FrontDoor, 'isFromOtherSite'>;
}

/** Requests of one address (of its networks more); further ones cause no query of the database. */
const ASKS = { limit: 10, windowMs: 60_000 } as const;
/** None is needed; clients send `{}`. */
const BODY_BYTES = 1_024;

/** Adds the route; it takes no key, and neither a body nor the database before the address has been counted. */
export function addKeyRoute(fastify: FastifyInstance, deps: KeyRouteDeps): void {
  const { keys, freeKeysPerDay, now, frontDoor } = deps;
  const asked = new RateWindow({ ...ASKS, now });
  const count = async (request: FastifyRequest) => {
    if (freeKeysPerDay === 0)
      throw new CompletionError(
        'not_found',
        'This gateway gives no keys away: whoever runs it makes them, with `strata inference keys create`.',
      );
    // It would get the key in its reader's name, and use up what the reader's address may have. Not counted: else any page
    // that is open could use up how often its reader may ask.
    if (frontDoor.isFromOtherSite(request))
      throw new CompletionError('foreign_page', 'A page of another site cannot get a key here; open our own page.');
    const waitSeconds = asked.take(countedNetworks(request.ip));
    if (waitSeconds > 0)
      throw new CompletionError(
        'rate_limit',
        'Too many requests for free keys from this address, its network or all clients.',
        {
          retryAfterMs: waitSeconds * 1_000,
        },
      );
  };
  fastify.post('/keys', { onRequest: count, bodyLimit: BODY_BYTES }, async (request, reply) => {
    const issued = await keys.issue(countedNetworks(request.ip), { perDay: freeKeysPerDay });
    if (!issued)
      throw new CompletionError(
        'rate_limit',
        'The free keys of the day are used up for this address, its network or the service; it resets at 00:00 UTC.',
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
  });
}
