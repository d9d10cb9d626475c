// Free API keys, and the public keys that verify receipts.
import { countedNetworks, route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../context.ts';
import { KEY_SET_PATH } from '../ledger/ledger.ts';
import { KEPT_DAYS } from '../store/keys/key-usage.ts';
import { Integer } from './parameters.ts';

export const createKey = route(
  {
    method: 'POST',
    path: '/keys',
    tag: 'Status',
    summary: 'Get a free API key',
    description:
      'No account, no card, no request body. The key is shown once: only its hash is stored. Limited per UTC day for an address, an IPv6 /56 and /48, and the complete service.',
    output: {
      kind: 'signed',
      status: 201,
      schema: z.object({
        key: z.string().describe('Send it in the header X-Stack-Key.'),
        key_id: z.string(),
        tier: z.string(),
        daily_limit: z.int().nullable(),
      }),
    },
    errors: ['quota_exceeded'],
    access: 'open',
  },
  async (app: StackApp, _input, context) => {
    const { freeKeysPerDay: perDay } = app.config;
    const issued = await app.store.keys.issue(countedNetworks(context.address), { perDay });
    if (!issued) {
      const retry = 86_400 - (Math.floor(app.now().getTime() / 1_000) % 86_400);
      return context.refuse(
        'quota_exceeded',
        'The free keys of the day are used up for this address, its network or the service.',
        {
          headers: { 'retry-after': String(retry) },
        },
      );
    }
    const { id, tier, dailyLimit } = issued.stored;
    return { key: issued.key, key_id: id, tier, daily_limit: dailyLimit };
  },
);

const Counts = { requests: z.int(), counted: z.int().describe('Requests that used the daily quota.') };

export const getUsage = route(
  {
    method: 'GET',
    path: '/stack/v1/usage',
    tag: 'Status',
    summary: 'Requests of your key by day and path',
    description:
      'How often the key was used on each UTC day, by path and by source: `page` for the pages of this service in a browser, `api` for other clients. Counts can be a few seconds old, and those of the last seconds are lost when a process is killed; the quota is counted separately and exactly.',
    query: z.object({
      days: Integer({ min: 1, max: KEPT_DAYS }).default(30).describe('UTC days, including today.'),
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        key_id: z.string(),
        tier: z.string(),
        daily_limit: z.int().nullable(),
        days: z
          .array(
            z.object({
              date: z.iso.date(),
              ...Counts,
              paths: z.array(z.object({ path: z.string(), source: z.enum(['page', 'api']), ...Counts })),
            }),
          )
          .describe('Days with requests, newest first.'),
      }),
    },
  },
  async ({ store, now }: StackApp, { days }, { key }) => {
    if (!key) throw new TypeError('a route with access by key has a key');
    const first = new Date(now().getTime() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
    const rows = await store.keyUsage.since(key.id, first);
    const byDay = Map.groupBy(rows, ({ day }) => day);
    const sum = (of: typeof rows, name: 'requests' | 'counted') => of.reduce((total, row) => total + row[name], 0);
    return {
      key_id: key.id,
      tier: key.tier,
      daily_limit: key.dailyLimit,
      days: [...byDay].map(([date, of]) => ({
        date,
        requests: sum(of, 'requests'),
        counted: sum(of, 'counted'),
        paths: of.map(({ day: _, ...row }) => row),
      })),
    };
  },
);

export const getKeySet = route(
  {
    method: 'GET',
    path: KEY_SET_PATH,
    tag: 'Status',
    summary: 'Public keys that receipts are verified with',
    description:
      'A JWK Set (RFC 7517, RFC 8037) of current and retired keys; its member `ledger` has the verifier keys for checkpoints of the ledger, and its `rotations` are signed notes in which a ledger key certifies its successor.',
    output: {
      kind: 'json',
      contentType: 'application/jwk-set+json',
      description: 'The key set.',
      schema: z.object({
        keys: z.array(
          z.looseObject({ kty: z.string(), crv: z.string(), x: z.string(), kid: z.string(), status: z.string() }),
        ),
        ledger: z.object({
          origin: z.string(),
          url: z.string(),
          verifier_keys: z.array(z.string()),
          rotations: z.array(z.string()).optional(),
        }),
      }),
    },
    access: 'open',
  },
  (app: StackApp) => {
    const { keys, ledger } = app.ledger.keySet();
    const { verifier_keys, rotations, ...rest } = ledger;
    const texts = { verifier_keys: [...verifier_keys], ...(rotations && { rotations: [...rotations] }) };
    return { keys: keys.map((key) => ({ ...key })), ledger: { ...rest, ...texts } };
  },
);
