// The observed records of a domain, now or on a date, and who shares them.
import { RECORD_KINDS, type RecordKind } from '@strata/detect';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { tags } from '../../index/live-index.ts';
import { FORMS, microsecondsOf } from '../../moments.ts';
import type { RecordKey, StoredRecord } from '../../store/index.ts';
import { domainOf, domainParams } from '../domains/domains.ts';
import { UNCHANGED_MS } from '../domains/search.ts';
import { refuseField, Time } from '../parameters.ts';
import { certificateDomains, MAX_CERTIFICATE_DOMAINS, sharedBound, timeFields, timesOf } from './record-fields.ts';

/** Values of so few domains show a common owner; they are looked up, the rarest first. */
const MAX_RARE = 20;
const MAX_RARE_VALUES = 60;
const MAX_RELATED = 20;
const MAX_VALUES_OF_ONE = 10;
/**
 * How much a rare value shows about the owner. The kinds that are missing are of a provider more often, however few domains
 * share them; `ns` counts in `ns_set`.
 */
const WEIGHTS: Partial<Record<RecordKind, number>> = {
  ...{ verification: 5, tag: 5, certificate_name: 5, redirect: 5, txt: 2, favicon: 2, ns_set: 1 },
  ...{ mx: 0.5, address: 0.5, cname: 0.5, soa: 0.5, ns: 0.1 },
};

const Key = { kind: z.enum(RECORD_KINDS), value: z.string() };

export const getRecords = route(
  {
    method: 'GET',
    path: '/stack/v1/domains/{domain}/records',
    tag: 'Records',
    summary: 'Observed records of the domain, now or on a date',
    description:
      'Every value with its interval and the number of other domains that publish it now. A failed look-up ends no value. ' +
      '`related` has the domains that share values which few domains have.',
    params: domainParams,
    query: z.object({
      at: Time.describe(`The records of this moment; a date is its last one. ${FORMS}.`).optional(),
    }),
    output: {
      kind: 'signed',
      schema: z.object({
        domain: z.string(),
        at: z.iso.datetime().nullable(),
        observed_since: z.iso.datetime().nullable().describe('The first observation of any record.'),
        unmeasured: z
          .array(z.enum(RECORD_KINDS))
          .describe('Kinds that no scan had measured by then: their values are unknown, not absent.'),
        total: z.int().min(0),
        records: z.array(
          z.object({
            ...Key,
            ...timeFields,
            other_domains: z.int().min(0).describe('Counted up to the bound from which a value is `shared`.'),
            shared: z
              .boolean()
              .describe(
                `Of so many domains that it says little about the owner; also the names of a certificate for more than ${MAX_CERTIFICATE_DOMAINS} registrable domains.`,
              ),
          }),
        ),
        related: z
          .array(
            z.object({
              domain: z.string(),
              shared_values: z.int().min(1),
              values: z.array(z.object(Key)).describe(`Those that show most, at most ${MAX_VALUES_OF_ONE}.`),
            }),
          )
          .describe(`At most ${MAX_RELATED}, those first whose values show most about an owner.`),
      }),
    },
    errors: ['invalid_domain', 'unknown_domain', 'unavailable'],
    cache: (_app: StackApp, input, context) => {
      const domain = domainOf(input.domain, context);
      return { key: `records ${domain} ${input.at ?? ''}`, tags: [tags.domain(domain)], maxAgeMs: UNCHANGED_MS };
    },
  },
  async (app, input, context) => {
    const { domain } = await app.onDemand.profile(app, domainOf(input.domain, context), context);
    const at = input.at === undefined ? null : momentOf(input.at, app.clock().getTime());
    const { records: all, observedSince, unmeasuredUntil } = await app.store.records.of(domain);
    const records = (at === null ? all.filter(({ endedAt }) => endedAt === null) : all.filter(isAt(at))).sort(
      (a, b) => RECORD_KINDS.indexOf(a.kind) - RECORD_KINDS.indexOf(b.kind),
    );
    const bound = sharedBound(app);
    const counts = await app.store.records.countEach(records, bound + 2);
    // A value that the domain does not publish now counts only the other domains.
    const nameOf = ({ kind, value }: { readonly kind: string; readonly value: string }) => `${kind} ${value}`;
    const published = new Set(all.filter(({ endedAt }) => endedAt === null).map(nameOf));
    const otherCounts = records.map((each, i) => Math.max((counts[i] ?? 0) - Number(published.has(nameOf(each))), 0));
    const isOfMany = certificateDomains(records) > MAX_CERTIFICATE_DOMAINS;
    const isShared = records.map(
      ({ kind }, i) => (otherCounts[i] ?? 0) >= bound || (isOfMany && kind === 'certificate_name'),
    );
    return {
      domain,
      at: at === null ? null : new Date(at).toISOString(),
      observed_since: observedSince?.toISOString() ?? null,
      unmeasured: [...unmeasuredUntil].flatMap(([kind, until]) =>
        until === null || (at !== null && until.getTime() > at) ? kind : [],
      ),
      total: records.length,
      records: records.map((record, i) => ({
        kind: record.kind,
        value: record.value,
        ...timesOf(record),
        other_domains: Math.min(otherCounts[i] ?? 0, bound),
        shared: isShared[i] ?? false,
      })),
      related: await relatedTo(app, domain, {
        records: records.filter((_, i) => !isShared[i]),
        otherCounts: otherCounts.filter((_, i) => !isShared[i]),
      }),
    };
  },
);

function momentOf(text: string, now: number): number {
  const at = Math.floor((microsecondsOf(text, { now, isEnd: true }) ?? 0) / 1_000);
  // The end of today is in the future and means now.
  return at > now + 86_400_000 ? refuseField('at', 'is in the future') : Math.min(at, now);
}

const isAt =
  (at: number) =>
  ({ firstSeen, endedAt }: StoredRecord) =>
    firstSeen.getTime() <= at && (endedAt === null || endedAt.getTime() > at);

async function relatedTo(
  { store, known }: Pick<StackApp, 'store' | 'known'>,
  domain: string,
  { records, otherCounts }: { readonly records: readonly RecordKey[]; readonly otherCounts: readonly number[] },
) {
  const maxCount = Math.min(Math.max(Math.ceil(known.size / 100), 3), MAX_RARE);
  const rare = records
    .map(({ kind, value }, i) => ({ kind, value, count: otherCounts[i] ?? 0 }))
    .filter((each) => each.count > 0 && each.count <= maxCount && WEIGHTS[each.kind] !== undefined)
    .map((each) => ({ ...each, weight: (WEIGHTS[each.kind] ?? 0) / each.count }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_RARE_VALUES);
  const rank = new Map(rare.map(({ kind, value, weight }, i) => [`${kind} ${value}`, { i, weight }]));
  const found = await store.records.usersOf(rare, MAX_RARE_VALUES * (MAX_RARE + 1));
  const rankOf = ({ kind, value }: RecordKey) => rank.get(`${kind} ${value}`) ?? { i: 0, weight: 0 };
  const byDomain = Map.groupBy(found, (user) => user.domain);
  byDomain.delete(domain);
  return [...byDomain]
    .map(([name, values]) => ({
      domain: name,
      weight: values.reduce((sum, value) => sum + rankOf(value).weight, 0),
      shared_values: values.length,
      values: values
        .sort((a, b) => rankOf(a).i - rankOf(b).i)
        .slice(0, MAX_VALUES_OF_ONE)
        .map(({ kind, value }) => ({ kind, value })),
    }))
    .sort((a, b) => b.weight - a.weight || (a.domain < b.domain ? -1 : 1))
    .slice(0, MAX_RELATED)
    .map(({ weight: _, ...related }) => related);
}
