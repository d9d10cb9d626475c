// The template tables by id, and every name that the providers keep in DNS.
import { authorities } from './authorities.ts';
import { cdns } from './cdn.ts';
import { dnsProviders, parkingProviders } from './dns.ts';
import { hostingProviders } from './hosting.ts';
import { gateways, mailboxes, regionalHosters } from './mail.ts';
import { platforms, servers } from './platforms.ts';
import { reportProcessors, senders } from './senders.ts';
import { names, type ProviderName } from './template.ts';
import { tokens } from './tokens.ts';

function table<T extends { readonly id: string }>(kind: string, rows: readonly T[]) {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return {
    rows,
    has: (id: string) => byId.has(id),
    /** Throws where there is no such template. */
    of(id: string): T {
      const row = byId.get(id);
      if (!row) throw new RangeError(`no ${kind} template '${id}'`);
      return row;
    },
  };
}

export const templates = {
  dns: table('dns', dnsProviders),
  parking: table('parking', parkingProviders),
  mailbox: table('mailbox', mailboxes),
  gateway: table('gateway', gateways),
  sender: table('sender', senders),
  reports: table('report processor', reportProcessors),
  token: table('token', tokens),
  hosting: table('hosting', hostingProviders),
  cdn: table('cdn', cdns),
  platform: table('platform', platforms),
  server: table('server', servers),
  authority: table('authority', authorities),
};

export const providerNames: readonly ProviderName[] = [
  ...[...mailboxes, ...gateways, ...senders, ...reportProcessors, ...hostingProviders, ...cdns].flatMap(
    (row) => row.names,
  ),
  ...regionalHosters.flatMap(({ zone, network }) => names(network, ['host', 'spf'], zone)),
];
