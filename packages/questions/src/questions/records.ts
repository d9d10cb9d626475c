// Questions about observed records: of a domain, their history, and who shares a value.
import { RECORD_KINDS } from '@strata/detect';
import { z } from 'zod';
import { cursorPages, Domain, Moment, Name, question, windowOf } from '../question.ts';
import { joined, moment, quoted } from './text.ts';

const Kind = z.enum(RECORD_KINDS);
/** Ten years. */
const MAX_DAYS = 3_650;
const MAX_SHARED = 5;

export const domainRecords = question({
  name: 'stack_domain_records',
  title: 'Observed records of a domain',
  description:
    'What the domain publishes now, or published at a time: name servers, MX, addresses, networks, TXT, verification tokens, certificate names, analytics ids … with first and last observation, and the number of other domains with the same value. related: domains that share rare values, which suggests one owner.',
  path: '/stack/v1/domains/{domain}/records',
  input: z.object({ domain: Domain, at: Moment.optional() }),
  summarize: ({ domain, at, observed_since, total, records, related, unmeasured }) => [
    `${domain}: ${total} records ${at === null ? 'now' : `at ${moment(at)}`}, observed since ${observed_since === null ? 'never' : moment(observed_since)}.`,
    ...unmeasuredLines(unmeasured),
    ...records.map(
      ({ kind, value, first_seen, other_domains, shared }) =>
        `- ${kind} ${quoted(value)} since ${moment(first_seen)}, ${other_domains}${shared ? ' or more' : ''} other domains`,
    ),
    ...related.map(
      ({ domain: other, shared_values, values }) =>
        `- related: ${other} shares ${shared_values}: ${joined(
          values.slice(0, MAX_SHARED).map(({ kind, value }) => `${kind} ${quoted(value)}`),
          ', ',
        )}`,
    ),
  ],
});

const unmeasuredLines = (kinds: readonly string[]) =>
  kinds.length === 0 ? [] : [`Not measured, so unknown: ${kinds.join(', ')}.`];

export const recordHistory = question({
  name: 'stack_domain_record_history',
  title: 'Record changes of a domain',
  description:
    'Record values of a domain that appeared or disappeared, newest first: when its MX, name servers or tokens changed. For the records at a time use stack_domain_records.',
  path: '/stack/v1/domains/{domain}/history',
  input: z.object({ domain: Domain, kind: Kind.optional(), ...windowOf(MAX_DAYS), ...cursorPages() }),
  list: { at: ['changes'], paging: 'service' },
  summarize: ({ domain, total, changes, unmeasured }) => [
    `${domain}: ${total} changes of records, newest first.`,
    ...unmeasuredLines(unmeasured.map(({ kind, until }) => (until === null ? kind : `${kind} until ${moment(until)}`))),
    ...changes.map(({ at, type, kind, value }) => `- ${moment(at)} ${kind} ${quoted(value)} ${type}`),
  ],
});

export const pivot = question({
  name: 'stack_pivot',
  title: 'Domains that share a value',
  description:
    'Reverse look-up: the domains with a name server, MX, address, network, certificate name, analytics or tag id or other value, now or in the past. shared means that so many domains have it that it is probably shared infrastructure.',
  path: '/stack/v1/pivot/{kind}/{value}',
  input: z.object({
    kind: Kind,
    value: Name.describe('ns1.example.com, 192.0.2.0/24, AS64496, GTM-ABC123.'),
    status: z.enum(['present', 'past']).default('present'),
    ...cursorPages(),
  }),
  list: { at: ['domains'], paging: 'service' },
  summarize: ({ kind, value, total, total_ever, more_than_counted, shared_reason, domains }) => [
    `${kind} ${quoted(value)}: ${total}${more_than_counted ? ' or more' : ''} domains now, ${total_ever ?? `${total} or more`} ever.${shared_reason ? ` ${shared_reason}` : ''}`,
    ...domains.map(
      ({ domain, first_seen, ended_at }) =>
        `- ${domain} since ${moment(first_seen)}${ended_at === null ? '' : `, until ${moment(ended_at)}`}`,
    ),
  ],
});
