// The channel of a community set's finding, and with it the family and strength, which are those of our own rules.

import { FAMILY_OF, strengthOf } from '../../match/strengths.ts';
import { type Category, roleIn } from '../../profile.ts';
import type { Provider, RuleGroup } from '../../rulebook/catalog.ts';
import type { Rule } from '../../rulebook/matchers.ts';
import { type Channel, channelOfHeader, patternsOf, SOURCE_OF } from '../../rulebook/patterns.ts';
import type { FieldPattern } from '../read/fingerprint-set.ts';

/** A page may write about a product that it does not use, so a match in visible text counts half. */
const TEXT_FACTOR = 0.5;
const MAX_SHOWN_LENGTH = 160;

/** Headers that list what a page may load or be embedded by: a host named in them does not serve the page. */
const MENTIONING_HEADERS: ReadonlySet<string> = new Set([
  'content-security-policy',
  'content-security-policy-report-only',
  'access-control-allow-origin',
  'access-control-allow-headers',
  'permissions-policy',
  'feature-policy',
  'link',
]);
/** By the type of the record. */
export const DNS_CHANNELS: ReadonlyMap<string, Channel> = new Map([
  ['NS', 'ns'],
  ['SOA', 'soa'],
  ['MX', 'mx'],
  ['TXT', 'txt'],
  ['CNAME', 'cname'],
]);

/** For a TXT pattern, the kind of record: an SPF record permits a sender and does not verify an account. */
export type TxtReading = 'plain' | 'spf';

const PLAIN: readonly TxtReading[] = ['plain'];
const PLAIN_AND_SPF: readonly TxtReading[] = ['plain', 'spf'];

export function readingsOf({ key }: FieldPattern): readonly TxtReading[] {
  return key === 'TXT' ? PLAIN_AND_SPF : PLAIN;
}

/** Anyone may choose a header's value but not its name, so only a name counts as private to one vendor. */
function channelOf({ field, key, regex }: FieldPattern, reading: TxtReading): Channel {
  switch (field) {
    case 'headers':
      return regex === null ? channelOfHeader(key) : 'common-header';
    case 'cookies':
      return 'cookie';
    case 'meta':
      return key === 'generator' ? 'generator' : 'marker';
    case 'scriptSrc':
    case 'url':
      return 'asset';
    case 'html':
    case 'text':
      return 'marker';
    case 'certIssuer':
      return 'tls';
    case 'dns':
      return reading === 'spf' ? 'spf' : (DNS_CHANNELS.get(key) ?? 'txt');
    default:
      return field satisfies never;
  }
}

/** The provider of a technology's rules, and the categories that they count for. */
export interface SetProvider {
  readonly provider: Provider;
  /** The category shown by the provider's own answer or alias. */
  readonly category: Category;
  /** Its mail exchange filters mail and stores none. */
  readonly isMailSecurity: boolean;
  /** Categories of the catalog's own rules, by channel; empty for a provider that is not in the catalog. */
  readonly own: ReadonlyMap<Channel, Category>;
  /** Categories in which the catalog knows its networks. */
  readonly networks: ReadonlySet<Category>;
}

/** Own categories and networks of a provider of the catalog. */
export function catalogParts({ rules }: Provider): Pick<SetProvider, 'own' | 'networks'> {
  const networks = rules.filter(({ asn }) => asn !== undefined).map(({ category }) => category);
  return { own: ownCategories(rules), networks: new Set(networks) };
}

/** The first category of a provider's own rules for each channel; parking is not a service. */
function ownCategories(rules: readonly RuleGroup[]): ReadonlyMap<Channel, Category> {
  const own = new Map<Channel, Category>();
  for (const group of rules.filter(({ parking }) => parking !== true)) {
    for (const { channel } of patternsOf(group)) if (!own.has(channel)) own.set(channel, group.category);
  }
  return own;
}

/** The rule that represents a pattern of a technology. */
export function ruleOfPattern(of: SetProvider, pattern: FieldPattern, reading: TxtReading): Rule {
  const channel = channelOf(pattern, reading);
  const { field, key, expression } = pattern;
  const shown = `set:${field}:${key}${key !== '' && expression !== '' ? ': ' : ''}${expression}`;
  const isMentioned = field === 'headers' && MENTIONING_HEADERS.has(key);
  const category = isMentioned ? 'web_platform' : categoryOf(of, channel);
  const rule = createRule(of, { channel, category, shown });
  return field === 'text' ? { ...rule, strength: rule.strength * TEXT_FACTOR } : rule;
}

/** The rule with which another technology's finding implies this one: nothing shows that it serves the site. */
export function ruleOfImplication(of: SetProvider, cause: Rule): Rule {
  const shown = `set:implies:${cause.provider}`;
  return createRule(of, { channel: cause.channel, category: 'web_platform', shown });
}

function createRule(
  of: SetProvider,
  { channel, category, shown }: { readonly channel: Channel; readonly category: Category; readonly shown: string },
): Rule {
  const { id } = of.provider;
  const role = roleIn(of.provider, category);
  const source = SOURCE_OF[channel];
  return {
    id: `${id}/${source}/${shown.slice(0, MAX_SHOWN_LENGTH)}`,
    provider: id,
    category,
    role,
    channel,
    source,
    family: FAMILY_OF[channel],
    strength: strengthOf(channel, category),
    isParking: false,
    isShared: false,
    hasNetworks: of.networks.has(category),
    version: undefined,
    service: `${category} ${id}`,
  };
}

/** The category of the provider's own rules for the channel, if there are any; otherwise what the channel can prove. */
function categoryOf({ own, category, isMailSecurity }: SetProvider, channel: Channel): Category {
  switch (channel) {
    case 'spf':
      return 'email_sending';
    case 'tls':
      return 'certificate_authority';
    case 'ns':
    case 'soa':
      return own.get(channel) ?? 'dns';
    case 'mx':
      return own.get(channel) ?? (isMailSecurity ? 'email_security' : 'email');
    case 'txt':
      return own.get(channel) ?? 'verified_service';
    case 'private-header':
    case 'common-header':
    case 'cookie':
    case 'cname':
      return own.get(channel) ?? category;
    default:
      return own.get(channel) ?? 'web_platform';
  }
}
