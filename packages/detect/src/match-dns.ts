// DNS records against the rulebook: every look-up is a trie or map walk, none a loop over rules.
import type { Lookup } from './evidence.ts';
import type { Finding } from './finding.ts';
import type { HostTrie } from './host-trie.ts';
import type { Rule } from './matchers.ts';
import type { Reading } from './reading.ts';
import type { Rulebook } from './rulebook.ts';
import { BACKUP_MX_STRENGTH, BROKEN_SPF_FACTOR, DANGLING_FACTOR } from './strengths.ts';

/** No TXT pattern is longer, see `Texts` in catalog.ts. */
const MAX_TOKEN_LENGTH = 128;
const CAA_ISSUE = /^issue(?:wild)?$/i;

/** All findings of the DNS part of a reading. */
export function matchDns(reading: Reading, { matchers }: Rulebook): Finding[] {
  const { dns } = reading.evidence;
  const { hosts, prefixes, networks } = matchers;
  const findings: Finding[] = [];
  for (const host of dns.ns.records) addHost(findings, hosts.ns, host);
  for (const { mname, rname } of dns.soa.records) {
    addHost(findings, hosts.soa, mname);
    addHost(findings, hosts.soa, rname);
  }
  const hasKnownExchange = matchExchanges(findings, reading, hosts.mx);
  const spfFactor = reading.spf.result === 'permerror' ? BROKEN_SPF_FACTOR : 1;
  for (const target of reading.spf.targets) addHost(findings, hosts.spf, target, spfFactor);
  for (const txt of dns.txt.records) {
    add(findings, prefixes.txt.findAt(txt.slice(0, MAX_TOKEN_LENGTH).toLowerCase()), txt);
  }
  for (const host of reading.dmarcPolicy.reportHosts) addHost(findings, hosts.dmarc, host);
  for (const alias of reading.dmarc.aliases) addHost(findings, hosts.dmarc, alias);
  for (const { tag, value } of dns.caa.records) {
    if (CAA_ISSUE.test(tag)) addHost(findings, hosts.caa, caaIssuer(value));
  }
  for (const alias of webAliases(reading)) addHost(findings, hosts.cname, alias);
  matchNamed(findings, reading, matchers.named);
  for (const { use, asn, asName, address } of reading.evidence.addresses) {
    if (asn === null || (use === 'mail' && hasKnownExchange)) continue;
    const rules = networks[use === 'mail' ? 'mail-asn' : 'asn'].get(asn);
    if (rules) add(findings, rules, `AS${asn}${asName === null ? '' : ` ${asName}`} (${address})`);
  }
  return findings;
}

/** The domain part of an issue property's value (RFC 8659 §4.2), '' where nobody may issue. */
export function caaIssuer(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Returns whether a preferred exchange is of a provider known by name, so that its network adds nothing. */
function matchExchanges(findings: Finding[], reading: Reading, trie: HostTrie<Rule>): boolean {
  let hasKnown = false;
  for (const { host, isPreferred } of reading.exchanges) {
    for (const rule of trie.find(host)) {
      const strength = isPreferred ? rule.strength : Math.min(rule.strength, BACKUP_MX_STRENGTH);
      findings.push({ rule, value: host, strength, isPreferred });
      if (isPreferred) hasKnown = true;
    }
  }
  return hasKnown;
}

/** Chains of the apex and www. One that ends in NXDOMAIN is left over from a service that is gone. */
export function webAliases({ evidence }: Reading): Iterable<string> {
  const { a, aaaa, www } = evidence.dns;
  const live = [a, aaaa, www].filter(({ status, aliases }) => aliases.length > 0 && status !== 'nxdomain');
  return new Set(live.flatMap(({ aliases }) => aliases));
}

function matchNamed(findings: Finding[], reading: Reading, byLabel: ReadonlyMap<string, HostTrie<Rule>>): void {
  for (const [label, lookup] of reading.named) {
    if (lookup.aliases.length === 0) continue;
    const trie = byLabel.get(label);
    if (!trie) continue;
    for (const alias of lookup.aliases) addHost(findings, trie, alias, danglingFactor(lookup));
  }
}

/** DKIM selectors are often published before the provider has put a key behind them. */
function danglingFactor({ status }: Lookup<string>): number {
  return status === 'nxdomain' ? DANGLING_FACTOR : 1;
}

function addHost(findings: Finding[], trie: HostTrie<Rule>, host: string, factor = 1): void {
  for (const rule of trie.find(host)) findings.push({ rule, value: host, strength: rule.strength * factor });
}

function add(findings: Finding[], rules: readonly Rule[], value: string): void {
  for (const rule of rules) findings.push({ rule, value, strength: rule.strength });
}
