// The tries and maps of a compiled rulebook, one for each kind of look-up.

import type { Family } from '../match/strengths.ts';
import type { Category, Role, Source } from '../profile.ts';
import { HostTrie } from './host-trie.ts';
import { type Channel, isDkimLabel, type Pattern } from './patterns.ts';
import { TextTrie } from './text-trie.ts';

/** One pattern of one provider, with everything that a finding needs. */
export interface Rule {
  /** `{provider}/{source}/{pattern}`. */
  readonly id: string;
  readonly provider: string;
  readonly category: Category;
  readonly role: Role;
  readonly channel: Channel;
  readonly source: Source;
  readonly family: Family;
  readonly strength: number;
  readonly isParking: boolean;
  /** Other products of the owner have the same alias or address. */
  readonly isShared: boolean;
  /** The pattern is a registrable domain, so it matches all hosts of its owner. */
  readonly isRegistrableDomain?: boolean;
  /** The provider's networks for this category are known. */
  readonly hasNetworks: boolean;
  /** The text of the value before the version, '' if the value is the version; undefined if the rule has no version. */
  readonly version: string | undefined;
  /** `category provider`: findings of one service share this string. */
  readonly service: string;
  /**
   * For SPF rules of a mailbox provider or a gateway: the rule that applies if the provider does not hold that role.
   */
  readonly asSender?: Rule | undefined;
}

/** Whether the alias of any of the company's sites shows the provider: the software of one site is not its host. */
export function isOfSite({ channel, category, isParking }: Rule): boolean {
  return channel === 'cname' && category === 'web_platform' && !isParking;
}

interface HeaderMatcher {
  readonly present: Rule[];
  readonly values: TextTrie<Rule>;
}

/** A cookie name with a `*` inside. */
export interface CookieFrame {
  readonly end: string;
  /** Of a name in which start and end do not overlap. */
  readonly minLength: number;
  readonly rule: Rule;
}

export interface AssetRule {
  /** Start of the path, lower-case; '' matches every path. */
  readonly path: string;
  readonly rule: Rule;
}

/** The look-up structures of each channel. Everything is lower-case except cookie names. */
export interface Matchers {
  readonly hosts: Readonly<Record<'ns' | 'soa' | 'mx' | 'spf' | 'dmarc' | 'caa' | 'cname', HostTrie<Rule>>>;
  readonly named: Map<string, HostTrie<Rule>>;
  /** Targets of `named` patterns at labels other than theirs, which customers choose; at DKIM selectors those of selectors. */
  readonly targets: Readonly<Record<'keys' | 'sites', HostTrie<Rule>>>;
  /** By DKIM selector, of which any key shows the provider, and by label of `txtAt`. */
  readonly keys: Map<string, Rule[]>;
  readonly prefixes: Readonly<Record<'txt' | 'generator' | 'tls', TextTrie<Rule>>>;
  /** By address, in the form of RFC 5952. */
  readonly addresses: Map<string, Rule[]>;
  readonly networks: Readonly<Record<'asn' | 'mail-asn' | 'ns-asn', Map<number, Rule[]>>>;
  readonly headers: Map<string, HeaderMatcher>;
  readonly cookies: Map<string, Rule[]>;
  readonly cookiePrefixes: TextTrie<Rule>;
  /** By the text before the `*`. */
  readonly cookieFrames: TextTrie<CookieFrame>;
  readonly assetHosts: HostTrie<AssetRule>;
  /** Without their leading slash: a look-up starts after each slash of a path. */
  readonly assetFragments: TextTrie<Rule>;
  readonly markers: Map<string, Rule[]>;
}

/** Empty matchers. */
export function createMatchers(): Matchers {
  return {
    hosts: {
      ns: new HostTrie(),
      soa: new HostTrie(),
      mx: new HostTrie(),
      spf: new HostTrie(),
      dmarc: new HostTrie(),
      caa: new HostTrie(),
      cname: new HostTrie(),
    },
    named: new Map(),
    targets: { keys: new HostTrie(), sites: new HostTrie() },
    keys: new Map(),
    prefixes: { txt: new TextTrie(), generator: new TextTrie(), tls: new TextTrie() },
    addresses: new Map(),
    networks: { asn: new Map(), 'mail-asn': new Map(), 'ns-asn': new Map() },
    headers: new Map(),
    cookies: new Map(),
    cookiePrefixes: new TextTrie(),
    cookieFrames: new TextTrie(),
    assetHosts: new HostTrie(),
    assetFragments: new TextTrie(),
    markers: new Map(),
  };
}

/** Customers choose the labels of sites and of links in mail; that of a mailbox says what the target is used for. */
const IS_CHOSEN: ReadonlySet<Category> = new Set(['web_platform', 'email_sending']);

/** Adds a rule to the look-up structure of its channel. */
export function addRule(matchers: Matchers, { channel, pattern, key = '', target }: Pattern, rule: Rule): void {
  const text = pattern.toLowerCase();
  switch (channel) {
    case 'ns':
    case 'soa':
    case 'mx':
    case 'spf':
    case 'dmarc':
    case 'caa':
    case 'cname':
      matchers.hosts[channel].add(pattern, rule);
      break;
    case 'named':
    case 'dkim':
    case 'txt-at':
      if (target === undefined) push(matchers.keys, pattern, rule);
      else {
        getOrCreate(matchers.named, key, () => new HostTrie<Rule>()).add(target, rule);
        if (isDkimLabel(key)) matchers.targets.keys.add(target, rule);
        else if (IS_CHOSEN.has(rule.category)) matchers.targets.sites.add(target, rule);
      }
      break;
    case 'txt':
    case 'generator':
    case 'tls':
      matchers.prefixes[channel].add(text, rule);
      break;
    case 'address':
      push(matchers.addresses, pattern, rule);
      break;
    case 'asn':
    case 'mail-asn':
    case 'ns-asn':
      push(matchers.networks[channel], Number(pattern), rule);
      break;
    case 'private-header':
    case 'common-header':
      addHeader(matchers, key, target, rule);
      break;
    case 'cookie':
      addCookie(matchers, pattern, rule);
      break;
    case 'asset':
      addAsset(matchers, text, rule);
      break;
    case 'marker':
      push(matchers.markers, text, rule);
      break;
    default:
      channel satisfies never;
  }
}

function addCookie({ cookies, cookiePrefixes, cookieFrames }: Matchers, pattern: string, rule: Rule): void {
  const [start = '', end] = pattern.split('*', 2);
  if (end === undefined) push(cookies, pattern, rule);
  else if (end === '') cookiePrefixes.add(start, rule);
  else cookieFrames.add(start, { end, minLength: start.length + end.length, rule });
}

function addHeader(matchers: Matchers, name: string, value: string | undefined, rule: Rule): void {
  const header = getOrCreate(matchers.headers, name, () => ({ present: [], values: new TextTrie<Rule>() }));
  if (value === undefined) header.present.push(rule);
  else header.values.add(value, rule);
}

/** `cdn.example` (host), `cdn.example/app/` (host and start of the path) or `/wp-content/` (anywhere in a path). */
function addAsset(matchers: Matchers, text: string, rule: Rule): void {
  const slash = text.indexOf('/');
  if (slash === 0) matchers.assetFragments.add(text.slice(1), rule);
  // Patterns with a path follow: they are more specific.
  else if (slash === -1) matchers.assetHosts.add(text, { path: '', rule }, { isFirst: true });
  else matchers.assetHosts.add(text.slice(0, slash), { path: text.slice(slash), rule });
}

/** The value of a key, created on first use. */
export function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

function push<K>(map: Map<K, Rule[]>, key: K, rule: Rule): void {
  getOrCreate(map, key, () => []).push(rule);
}
