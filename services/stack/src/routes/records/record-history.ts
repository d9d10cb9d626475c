// When the values of a domain appeared and disappeared.
import { createHash } from 'node:crypto';
import { RECORD_KINDS, type RecordKind, SOURCES } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import type { StoredRecord } from '../../store/index.ts';
import { domainOf, domainParams } from '../domains/domains.ts';
import { UNCHANGED_MS } from '../domains/search.ts';
import { WindowKey, windowOf, windowParameters } from '../market/window.ts';
import { pageFields, pageOf, pageParameters } from '../paging.ts';
import { KindParameter, timeFields, timesOf } from './record-fields.ts';

/** Ten years. */
const MAX_DAYS = 3_650;
const MAX_SCANS = 20;
const Key = z.tuple([z.int(), z.string().max(64)]);
const LIST = { name: 'record history', key: z.tuple([Key, WindowKey.nullable()]) };

export const getRecordHistory = route(
  {
    method: 'GET',
    path: '/stack/v1/domains/{domain}/history',
    tag: 'Records',
    summary: 'Changes of the observed records of the domain',
    description:
      'Values that appeared or disappeared, newest first. Those of the first observation are where history begins, not changes. ' +
      'Addresses, networks and ASNs that return within 30 days continue their interval, because pools alternate. The last 500 ended values are kept.',
    params: domainParams,
    query: z.object({ kind: KindParameter.optional(), ...windowParameters(MAX_DAYS), ...pageParameters(100) }),
    output: {
      kind: 'signed',
      schema: z.object({
        domain: z.string(),
        observed_since: z.iso.datetime().nullable(),
        unmeasured: z
          .array(z.object({ kind: z.enum(RECORD_KINDS), until: z.iso.datetime().nullable() }))
          .describe(
            'Kinds that no scan had measured until then: what they had before is unknown, not a change. Null: still.',
          ),
        incomplete_scans: z
          .array(z.object({ at: z.iso.datetime(), resolved: z.boolean(), unmeasured: z.array(z.enum(SOURCES)) }))
          .describe(
            `Scans that could not measure some sources, newest first, at most ${MAX_SCANS}; \`resolved\` is false if nothing answered. They end no value.`,
          ),
        total: z.int().min(0),
        ...pageFields,
        changes: z.array(
          z.object({
            at: z.iso.datetime(),
            type: z.enum(['appeared', 'disappeared']),
            kind: z.enum(RECORD_KINDS),
            value: z.string(),
            ...timeFields,
          }),
        ),
      }),
    },
    errors: ['invalid_domain', 'unknown_domain', 'unavailable'],
    cache: (_app: StackApp, { domain: name, ...input }, context) => {
      const domain = domainOf(name, context);
      const key = `record history ${domain} ${JSON.stringify(input)}`;
      return { key, tags: [tags.domain(domain)], maxAgeMs: UNCHANGED_MS };
    },
  },
  async (app, input, context) => {
    const { domain } = await app.onDemand.profile(app, domainOf(input.domain, context), context);
    const { kind, days, hours, since, until } = input;
    const page = pageOf(input, LIST, [domain, kind, days, hours, since, until]);
    const { limit, after } = page.query;
    const window = after ? after[1] : windowOf(input, { now: app.clock().getTime(), maxDays: MAX_DAYS });
    const { records, observedSince, unmeasuredUntil } = await app.store.records.of(domain);
    const incomplete = await app.store.lists.incompleteScans(domain, MAX_SCANS);
    const beginOf = (of: RecordKind) => (unmeasuredUntil.has(of) ? unmeasuredUntil.get(of) : observedSince)?.getTime();
    const changes = records
      .filter((record) => kind === undefined || record.kind === kind)
      .flatMap((record) => changesOf(record, beginOf(record.kind) ?? Infinity))
      .filter(({ at }) => at >= (window?.since ?? 0) && at <= (window?.until ?? Number.MAX_SAFE_INTEGER))
      .sort((a, b) => compare(a.key, b.key));
    const next = after ? changes.filter(({ key }) => compare(key, after[0]) > 0) : changes;
    const { rows, fields } = page.cut(next.slice(0, limit), ({ key }) => [key, window]);
    return {
      domain,
      observed_since: observedSince?.toISOString() ?? null,
      unmeasured: [...unmeasuredUntil]
        .filter(([each]) => kind === undefined || each === kind)
        .map(([each, until]) => ({ kind: each, until: until?.toISOString() ?? null })),
      incomplete_scans: incomplete.map(({ at, state, unmeasured }) => ({
        at: new Date(at).toISOString(),
        resolved: state !== 'unmeasured',
        unmeasured: [...unmeasured],
      })),
      total: changes.length,
      ...fields,
      changes: rows.map(({ at, type, record }) => ({
        at: new Date(at).toISOString(),
        type,
        kind: record.kind,
        value: record.value,
        ...timesOf(record),
      })),
    };
  },
);

type ChangeKey = z.infer<typeof Key>;

/** A value that was observed when its kind was first measured has not appeared then. */
function changesOf(record: StoredRecord, begins: number) {
  const change = (type: 'appeared' | 'disappeared', at: number) => {
    // A value may be longer than a cursor.
    const digest = createHash('sha256').update(record.value).digest('base64url').slice(0, 12);
    return { type, at, record, key: [at, `${record.kind} ${type} ${digest}`] as ChangeKey };
  };
  const { firstSeen, endedAt } = record;
  return [
    ...(firstSeen.getTime() <= begins ? [] : [change('appeared', firstSeen.getTime())]),
    ...(endedAt === null ? [] : [change('disappeared', endedAt.getTime())]),
  ];
}

/** Newest first; at one time by kind. */
function compare(a: ChangeKey, b: ChangeKey): number {
  return b[0] - a[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0);
}
