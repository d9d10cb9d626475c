// DNS records against the rulebook: every look-up walks a trie or reads a map, without a loop over rules.

import type { Reading } from '../evidence/reading.ts';
import { isMachineName } from '../names/machine-name.ts';
import { isWithin } from '../names/names.ts';
import { readDkimKey } from '../posture/mail/dkim.ts';
import type { HostTrie } from '../rulebook/host-trie.ts';
import { isOfSite, type Matchers, type Rule } from '../rulebook/matchers.ts';
import { isDkimLabel } from '../rulebook/patterns.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';
import { SITE_LABELS } from '../rulebook/site-labels.ts';
import { addFindings, type Finding, findingOf } from './finding.ts';
import { matchPublished, withoutOverruled } from './match-ranges.ts';
import { BACKUP_MX_STRENGTH, DANGLING_FACTOR, strengthOf } from './strengths.ts';

/** The maximum length of a TXT pattern, see `Texts` in catalog.ts. */
const MAX_TOKEN_LENGTH = 128;
const CAA_ISSUE = /^issue(?:wild)?$/i;

const NO_ALIASES: readonly string[] = [];
const NETWORKS_OF = { web: 'asn', www: 'asn', mail: 'mail-asn', ns: 'ns-asn' } as const;

/** Adds all findings of the DNS part of a reading. */
export function matchDns(findings: Finding[], reading: Reading, rulebook: Rulebook): void {
  const { dns } = reading.evidence;
  const { matchers } = rulebook;
  const { hosts, prefixes, networks } = matchers;
  for (const host of dns.ns.records) addHost(findings, hosts.ns, host);
  const hasKnownServer = findings.length > 0;
  for (const { mname, rname } of dns.soa.records) {
    addHost(findings, hosts.soa, mname);
    addHost(findings, hosts.soa, rname);
  }
  const hasKnownExchange = matchExchanges(findings, reading, hosts.mx);
  matchSpf(findings, reading, hosts.spf);
  for (const txt of dns.txt.records) {
    addFindings(findings, prefixes.txt.findAt(txt.slice(0, MAX_TOKEN_LENGTH).toLowerCase()), txt);
  }
  for (const host of reading.dmarcPolicy.reportHosts) addHost(findings, hosts.dmarc, host);
  for (const { status, aliases } of reading.hostedPolicies) {
    const factor = status === 'nxdomain' ? DANGLING_FACTOR : 1;
    for (const alias of aliases) addHost(findings, hosts.dmarc, alias, factor);
  }
  for (const { tag, value } of dns.caa.records) {
    if (CAA_ISSUE.test(tag)) addHost(findings, hosts.caa, caaIssuer(value));
  }
  for (const alias of webAliases(reading)) addAlias(findings, matchers, alias, reading);
  matchNamed(findings, reading, rulebook);
  for (const { use, asn, asName, address } of reading.evidence.addresses) {
    // A registrar's forwarder answers at the apex: the site is at the redirect's target.
    if (use === 'web' && reading.leadsToWww) continue;
    const published = matchPublished({ address, use }, rulebook);
    for (const finding of published) findings.push(finding);
    if (asn === null || (use === 'mail' && hasKnownExchange)) continue;
    if (use === 'ns' && (hasKnownServer || reading.failures.ns)) continue;
    const known = networks[NETWORKS_OF[use]].get(asn);
    if (!known) continue;
    const rules = withoutOverruled(known, published);
    addFindings(findings, rules, `AS${asn}${asName === null ? '' : ` ${asName}`} (${address})`);
  }
}

/** The domain part of an issue property's value (RFC 8659 §4.2), '' if issuance is forbidden. */
export function caaIssuer(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/**
 * The targets that the domain chose. Those that a policy of another owner names, such as a reseller's suppliers, were chosen
 * by that owner for all its customers.
 */
function matchSpf(findings: Finding[], { spf: { senders } }: Reading, trie: HostTrie<Rule>): void {
  for (const { host, via, depth } of senders) {
    // A rented machine sends what its tenant does, not what a product of its owner does.
    const isMachine = (via === 'a' || via === 'mx') && isMachineName(host);
    if (depth === 0 && !isMachine) addHost(findings, trie, host);
  }
}

/** Returns whether a preferred exchange belongs to a provider known by name, so that its network adds nothing. */
export function matchExchanges(
  findings: Finding[],
  { exchanges }: Pick<Reading, 'exchanges'>,
  trie: HostTrie<Rule>,
): boolean {
  let hasKnown = false;
  for (const { host, isPreferred } of exchanges) {
    for (const rule of trie.find(host)) {
      if (rule.isRegistrableDomain && rule.role === 'mailbox' && isMachineName(host)) continue;
      const strength = isPreferred ? rule.strength : Math.min(rule.strength, BACKUP_MX_STRENGTH);
      findings.push(findingOf(rule, host, { strength, isPreferred }));
      if (isPreferred) hasKnown = true;
    }
  }
  return hasKnown;
}

/** Alias chains of the apex and www. A chain that ends in NXDOMAIN is a leftover of a removed service. */
export function webAliases({ evidence }: Reading): readonly string[] {
  const { a, aaaa, www } = evidence.dns;
  if (a.aliases.length === 0 && aaaa.aliases.length === 0 && www.aliases.length === 0) return NO_ALIASES;
  const live = new Set<string>();
  for (const { status, aliases } of [a, aaaa, www]) {
    if (status !== 'nxdomain') for (const alias of aliases) live.add(alias);
  }
  return [...live];
}

function matchNamed(findings: Finding[], reading: Reading, { matchers, mailboxLabels }: Rulebook): void {
  const { hosts, named, keys, targets } = matchers;
  for (const { label, lookup } of reading.named) {
    const isKey = isDkimLabel(label);
    if (lookup.aliases.length === 0) {
      const rules = lookup.records.length === 0 ? undefined : keys.get(label);
      const key = rules && lookup.records.find((record) => (isKey ? isUsableKey(label, record) : TOKEN.test(record)));
      if (rules && key !== undefined) addFindings(findings, rules, key);
      continue;
    }
    const own = named.get(label);
    // The label of a mailbox says what the target is used for; any other is of a site or of links in mail.
    const elsewhere = isKey ? targets.keys : mailboxLabels.has(label) ? undefined : targets.sites;
    const isSite = SITE_LABELS.has(label) || (own === undefined && !isKey);
    // DKIM selectors are often published before the provider publishes a key behind them.
    const hasNoTarget = lookup.status === 'nxdomain';
    for (const alias of lookup.aliases) {
      const specific = own?.find(alias) ?? [];
      const site = isSite ? hosts.cname.find(alias).filter(isOfSite) : [];
      const target = specific.length > 0 ? [] : furtherTo(site, elsewhere?.find(alias) ?? []);
      for (const rule of [...specific, ...target, ...site]) {
        if (isOfOwnSite(rule, alias, reading)) continue;
        // That an account existed remains true.
        const isDangling = hasNoTarget && rule.role !== 'verified';
        // Unlike the site's own, an alias of another label stays after its service was left.
        const strength = Math.min(rule.strength, strengthOf('named', rule.category));
        findings.push(
          findingOf(rule, alias, { strength: isDangling ? strength * DANGLING_FACTOR : strength, isDangling }),
        );
      }
    }
  }
}

/** A verification record at a label of its own; it has no spaces, unlike a policy. */
const TOKEN = /^\S{16,}$/;

/** A revoked key is left of a former account. */
function isUsableKey(label: string, record: string): boolean {
  const key = readDkimKey(label, record);
  return key !== null && key.problem !== 'revoked';
}

function addHost(findings: Finding[], trie: HostTrie<Rule>, host: string, factor = 1): void {
  for (const rule of trie.find(host)) {
    findings.push(factor === 1 ? findingOf(rule, host) : findingOf(rule, host, { strength: rule.strength * factor }));
  }
}

function addAlias(findings: Finding[], { hosts, targets }: Matchers, alias: string, reading: Reading): void {
  const known = hosts.cname.find(alias);
  for (const rule of [...known, ...furtherTo(known, targets.sites.find(alias))]) {
    if (!isOfOwnSite(rule, alias, reading)) findings.push(findingOf(rule, alias));
  }
}

/** One rule of each service that the known rules do not show: a target may be in the catalog with several labels. */
function furtherTo(known: readonly Rule[], rules: readonly Rule[]): readonly Rule[] {
  const services = new Set(known.map(({ service }) => service));
  return rules.filter(({ service }) => services.size < services.add(service).size);
}

/** A vendor's own site is under the names that it gives to customers, and need not be made with its product. */
function isOfOwnSite(rule: Rule, alias: string, { evidence }: Reading): boolean {
  return rule.category === 'web_platform' && isWithin(alias, evidence.domain);
}
