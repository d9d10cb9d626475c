// The DNS queries for a domain's own names, sent concurrently; the resolver limits their number.
import { randomBytes } from 'node:crypto';
import type { DnsEvidence, Lookup, MxRecord } from '@strata/detect';
import { type Ask, cutTexts } from '../dns/ask.ts';
import { noRecords } from '../dns/message/answer.ts';
import { addressesOf } from '../web/checked-address.ts';
import { askKeys, WITNESSES } from './key-questions.ts';

/** The labels of a rulebook, by how they are asked. */
export interface ProbeLabels {
  readonly selectors: readonly string[];
  readonly rest: readonly string[];
  /** Labels that wait for the exchanges, which may show that their answer changes nothing. */
  readonly waiting: ReadonlySet<string>;
  readonly idleAfter: IdleAfter;
}

/** The labels that need no question after this answer about the exchanges. */
export type IdleAfter = (mx: Lookup<MxRecord>) => ReadonlySet<string>;

const IDLE: Lookup<string> = noRecords('empty', 'not queried: the exchanges decide about mailboxes');

export function probeLabelsOf(labels: readonly string[], idleAfter: IdleAfter = () => new Set()): ProbeLabels {
  const isSelector = (label: string) => label.endsWith('._domainkey');
  const waiting = idleAfter(noRecords('empty')).difference(new Set(WITNESSES));
  return {
    selectors: labels.filter(isSelector),
    rest: labels.filter((label) => !isSelector(label)),
    waiting,
    idleAfter,
  };
}

/** Rejects with the first error of `ask`. */
export async function queryDomain(
  domain: string,
  ns: Lookup<string>,
  labels: ProbeLabels,
  ask: Ask,
): Promise<DnsEvidence> {
  const random = `strata-${randomBytes(6).toString('hex')}`;
  // Names with an underscore are no hosts: theirs are texts.
  const isIdle = async (label: string) =>
    labels.waiting.has(label) && labels.idleAfter(await ask(domain, 'MX')).has(label);
  const askLabel = async (label: string) => {
    if (await isIdle(label)) return IDLE;
    return label.startsWith('_') ? askText(label) : ask(`${label}.${domain}`, 'A');
  };
  const askText = async (label: string) =>
    (await isIdle(label)) ? IDLE : cutTexts(await ask(`${label}.${domain}`, 'TXT'));
  // One Promise.all: with sequential awaits an abort would leave unhandled rejections.
  const [soa, a, aaaa, mx, txt, caa, ds, www, dmarc, mtaSts, tlsRpt, bimi, wildcard, keys, labelled] =
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
      askKeys(domain, labels.selectors, random, { ask, askText }),
      Promise.all(labels.rest.map(async (label) => [label, await askLabel(label)] as const)),
    ]);
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
    named: Object.fromEntries([...keys, ...labelled]),
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

function byPreference(a: MxRecord, b: MxRecord): number {
  return a.preference - b.preference || (a.exchange < b.exchange ? -1 : a.exchange > b.exchange ? 1 : 0);
}
