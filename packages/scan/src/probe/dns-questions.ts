// The DNS queries for a domain's own names, sent concurrently; the resolver limits their number.
import { randomBytes } from 'node:crypto';
import type { DnsEvidence, Lookup, MxRecord } from '@strata/detect';
import { type Ask, cutTexts } from '../dns/ask.ts';
import { addressesOf } from '../web/checked-address.ts';

/** Rejects with the first error of `ask`. */
export async function queryDomain(
  domain: string,
  ns: Lookup<string>,
  labels: readonly string[],
  ask: Ask,
): Promise<DnsEvidence> {
  const random = `strata-${randomBytes(6).toString('hex')}`;
  const keyLabels = labels.filter(isKeyLabel);
  const hostLabels = labels.filter((label) => !isKeyLabel(label));
  const askText = async (label: string) => cutTexts(await ask(`${label}.${domain}`, 'TXT'));
  // One Promise.all: with sequential awaits an abort would leave unhandled rejections.
  const [soa, a, aaaa, mx, txt, caa, ds, www, dmarc, mtaSts, tlsRpt, bimi, wildcard, wildcardKey, keys, hosts] =
    await Promise.all([
      ask(domain, 'SOA'),
      ask(domain, 'A'),
      ask(domain, 'AAAA'),
      ask(domain, 'MX'),
      ask(domain, 'TXT'),
      ask(domain, 'CAA'),
      ask(domain, 'DS'),
      addressesOf(ask, `www.${domain}`),
      askText('_dmarc'),
      askText('_mta-sts'),
      askText('_smtp._tls'),
      askText('default._bimi'),
      askWildcard(`${random}.${domain}`, ask),
      keyLabels.length > 0 ? askText(`${random}._domainkey`) : undefined,
      // A key is a TXT record, other names are hosts; both include their aliases.
      Promise.all(keyLabels.map(askText)),
      Promise.all(hostLabels.map((label) => ask(`${label}.${domain}`, 'A'))),
    ]);
  const named = Object.fromEntries(
    [
      ...keyLabels.map((label, i) => [label, withoutWildcard(keys[i], wildcardKey)] as const),
      ...hostLabels.map((label, i) => [label, hosts[i]] as const),
    ].flatMap(([label, lookup]) => (lookup ? [[label, lookup] as const] : [])),
  );
  return {
    ns: { ...ns, records: ns.records.toSorted() },
    soa,
    a,
    aaaa,
    mx: { ...mx, records: mx.records.toSorted(byPreference) },
    txt,
    caa,
    ds,
    www,
    dmarc,
    mtaSts,
    tlsRpt,
    bimi,
    named,
    ...wildcard,
  };
}

/**
 * The answer for a random name. If its A query returns NXDOMAIN, no other type exists either (RFC 8020), so most domains need one
 * query here in place of three.
 */
async function askWildcard(
  name: string,
  ask: Ask,
): Promise<Pick<Required<DnsEvidence>, 'wildcardTxt' | 'wildcardA' | 'wildcardMx'>> {
  const wildcardA = await ask(name, 'A');
  if (wildcardA.status === 'nxdomain') {
    const nothing = { ...wildcardA, records: [] };
    return { wildcardTxt: nothing, wildcardA, wildcardMx: nothing };
  }
  const [wildcardTxt, wildcardMx] = await Promise.all([ask(name, 'TXT'), ask(name, 'MX')]);
  return { wildcardTxt: cutTexts(wildcardTxt), wildcardA, wildcardMx };
}

function isKeyLabel(label: string): boolean {
  return label.includes('_domainkey');
}

/** An answer equal to that of a random selector comes from a wildcard below `_domainkey` and says nothing about this one. */
function withoutWildcard(lookup: Lookup<string> | undefined, wildcard: Lookup<string> | undefined) {
  const isAnswer = wildcard !== undefined && (wildcard.records.length > 0 || wildcard.aliases.length > 0);
  if (!lookup || !isAnswer || fingerprint(lookup) !== fingerprint(wildcard)) return lookup;
  return { status: 'empty', records: [], aliases: [], detail: 'a wildcard answer' } as const;
}

function fingerprint({ records, aliases }: Lookup<string>): string {
  return JSON.stringify([records.toSorted(), aliases]);
}

function byPreference(a: MxRecord, b: MxRecord): number {
  return a.preference - b.preference || (a.exchange < b.exchange ? -1 : a.exchange > b.exchange ? 1 : 0);
}
