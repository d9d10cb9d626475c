// The template tables by id, and every DNS name of the providers themselves.

import { dnsProviders, parkingProviders } from './dns.ts';
import { extraNames } from './extras.ts';
import type { LongTail } from './long-tail.ts';
import { gateways, mailboxes, regionalHosters, reportProcessors, senders } from './mail.ts';
import { siteServiceNames } from './site-services.ts';
import { authorities, cdns, hostingProviders, platforms, servers, widgets } from './sites.ts';
import { names, type ProviderName } from './template.ts';
import { tokens } from './tokens.ts';

export interface Table<T extends { readonly id: string }> {
  /** Handwritten, with weights; `tail` is generated from a rulebook. */
  readonly rows: readonly T[];
  readonly tail: readonly T[];
  has(id: string): boolean;
  /** Throws for an unknown id. */
  of(id: string): T;
}

function table<T extends { readonly id: string }>(kind: string, rows: readonly T[], made: readonly T[] = []): Table<T> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const tail = made.filter(({ id }) => !byId.has(id));
  for (const row of tail) byId.set(row.id, row);
  return {
    rows,
    tail,
    has: (id) => byId.has(id),
    of(id) {
      const row = byId.get(id);
      if (!row) throw new RangeError(`no ${kind} template '${id}'`);
      return row;
    },
  };
}

/** The tables, with the long tail of a rulebook if one is given. */
export function templatesWith(tail?: LongTail) {
  return {
    dns: table('dns', dnsProviders, tail?.dns),
    parking: table('parking', parkingProviders),
    mailbox: table('mailbox', mailboxes, tail?.mailbox),
    gateway: table('gateway', gateways, tail?.gateway),
    sender: table('sender', senders, tail?.sender),
    reports: table('report processor', reportProcessors, tail?.reports),
    token: table('token', tokens, tail?.token),
    hosting: table('hosting', hostingProviders, tail?.hosting),
    cdn: table('cdn', cdns, tail?.cdn),
    platform: table('platform', platforms, tail?.platform),
    server: table('server', servers),
    widget: table('widget', widgets, tail?.widget),
    authority: table('authority', authorities, tail?.authority),
  };
}

export type Templates = ReturnType<typeof templatesWith>;

export const templates: Templates = templatesWith();

/** Every DNS name of the providers in the tables. */
export function providerNamesOf(tables: Templates): readonly ProviderName[] {
  const all = <T extends { readonly id: string }>({ rows, tail }: Table<T>) => [...rows, ...tail];
  return [
    ...[
      ...all(tables.mailbox),
      ...all(tables.gateway),
      ...all(tables.sender),
      ...all(tables.reports),
      ...all(tables.hosting),
      ...all(tables.cdn),
    ].flatMap((row) => row.names),
    ...regionalHosters.flatMap(({ zone, network }) => names(network, ['host', 'spf'], zone)),
    ...extraNames,
    ...siteServiceNames,
  ];
}
