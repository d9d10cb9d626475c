// Who shares a value: reverse look-ups.
import { MAX_VALUE_LENGTH, recordValue } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { MAX_STALE_MS, tags } from '../../index/live-index.ts';
import { MAX_COUNTED, type RecordUser } from '../../store/index.ts';
import { UNCHANGED_MS } from '../domains/search.ts';
import { pageFields, pageOf, pageParameters } from '../paging.ts';
import { refuseField, Word } from '../parameters.ts';
import {
  certificateDomains,
  KindParameter,
  MAX_CERTIFICATE_DOMAINS,
  sharedBound,
  timeFields,
  timesOf,
} from './record-fields.ts';

const LIST = { name: 'pivot', key: z.tuple([z.int(), z.int()]) };
const count = z.int().min(0);

export const getPivot = route(
  {
    method: 'GET',
    path: '/stack/v1/pivot/{kind}/{value}',
    tag: 'Records',
    summary: 'Domains that share a value',
    description:
      'Which domains publish this name server, exchange, address, network, certificate name, tag id, favicon hash or other observed value, now or in the past. ' +
      'Counts first: a value of many domains is `shared`, as are those of providers and names in certificates of many domains, and its list says little about ownership.',
    params: z.object({
      kind: KindParameter,
      value: z
        .string()
        .min(1, 'must not be empty')
        .max(1_024)
        .describe('The value, percent-encoded: `ns1.example.com`, `GTM-ABC123`, `192.0.2.0%2F24`, `AS64496`.'),
    }),
    query: z.object({
      status: Word(['present', 'past'])
        .default('present')
        .describe('`present`: domains that publish the value now. `past`: intervals that have ended, the last first.'),
      ...pageParameters(100),
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        kind: z.string(),
        value: z.string().describe(`As stored: lower-case hosts, at most ${MAX_VALUE_LENGTH} characters.`),
        total: count.describe(`Domains that publish the value now; counting stops at ${MAX_COUNTED}.`),
        total_ever: count
          .nullable()
          .describe(`Domains that publish it or did, as far as history is kept; null above ${MAX_COUNTED} intervals.`),
        more_than_counted: z.boolean().describe('Whether `total` is a lower bound.'),
        shared: z.boolean(),
        shared_reason: z.string().nullable(),
        status: z.enum(['present', 'past']),
        ...pageFields,
        domains: z.array(z.object({ domain: z.string(), ...timeFields })),
      }),
    },
    cache: (_app: StackApp, { kind, value, status, limit, cursor }) => ({
      key: `pivot ${JSON.stringify([kind, value, status, limit, cursor])}`,
      tags: [...tags.domains],
      maxStaleMs: MAX_STALE_MS,
      maxAgeMs: UNCHANGED_MS,
    }),
  },
  async (app, input, _context) => {
    const { kind, status } = input;
    const value = recordValue(kind, input.value);
    if (value === '') refuseField('value', `is not a value of kind ${kind}`);
    const page = pageOf(input, LIST, [kind, value, status]);
    const key = { kind, value };
    const { limit, after } = page.query;
    const [{ now, ever }, found] = await Promise.all([
      app.store.records.count(key),
      app.store.records.users(key, { isPresent: status === 'present', limit, ...(after && { after }) }),
    ]);
    const bound = sharedBound(app);
    const named = kind === 'certificate_name' ? await maxNamed(app, found) : 0;
    const sharedReason =
      now > bound
        ? `More than ${bound} of ${app.known.size} domains publish it: probably a provider's, not an owner's.`
        : named > MAX_CERTIFICATE_DOMAINS
          ? `Its certificate has names of ${named} registrable domains or more: probably a provider's, not an owner's.`
          : null;
    const { rows, fields } = page.cut(found, ({ key }) => key);
    return {
      kind,
      value,
      total: Math.min(now, MAX_COUNTED),
      total_ever: ever,
      more_than_counted: now > MAX_COUNTED,
      shared: sharedReason !== null,
      shared_reason: sharedReason,
      status,
      ...fields,
      domains: rows.map((user) => ({ domain: user.domain, ...timesOf(user) })),
    };
  },
);

/** Domains whose certificates are read to find one of many domains. */
const MAX_CERTIFICATES = 5;

async function maxNamed({ store }: Pick<StackApp, 'store'>, users: readonly RecordUser[]): Promise<number> {
  const ids = users.slice(0, MAX_CERTIFICATES).map(({ key: [, domainId] }) => domainId);
  const names = await store.records.ofEach(ids, 'certificate_name');
  const present = names.filter(({ endedAt }) => endedAt === null);
  return Math.max(0, ...[...Map.groupBy(present, ({ domainId }) => domainId).values()].map(certificateDomains));
}
