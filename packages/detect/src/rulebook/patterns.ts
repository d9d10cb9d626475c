// The patterns of one rule group as a flat list: channel, pattern, and the name of a finding.

import type { Source } from '../profile.ts';
import type { RuleGroup } from './catalog.ts';

/** The input that evidence comes from. Finer than `Source`: a strength and a matcher belong to a channel. */
export type Channel = PatternChannel | 'range';

/** The channels of the catalog's patterns; published ranges are loaded separately. */
type PatternChannel =
  | 'ns'
  | 'soa'
  | 'mx'
  | 'spf'
  | 'txt'
  | 'dmarc'
  | 'caa'
  | 'cname'
  | 'named'
  | 'dkim'
  | 'txt-at'
  | 'address'
  | 'asn'
  | 'mail-asn'
  | 'ns-asn'
  | 'private-header'
  | 'common-header'
  | 'cookie'
  | 'generator'
  | 'asset'
  | 'marker'
  | 'tls';

export const SOURCE_OF = {
  ns: 'ns',
  soa: 'soa',
  mx: 'mx',
  spf: 'spf',
  txt: 'txt',
  dmarc: 'dmarc',
  caa: 'caa',
  cname: 'cname',
  named: 'cname',
  dkim: 'cname',
  // Measured with the aliases of the other labels.
  'txt-at': 'cname',
  address: 'asn',
  asn: 'asn',
  'mail-asn': 'asn',
  'ns-asn': 'asn',
  range: 'asn',
  'private-header': 'header',
  'common-header': 'header',
  cookie: 'cookie',
  generator: 'html',
  asset: 'html',
  marker: 'html',
  tls: 'tls',
} as const satisfies Record<Channel, Source>;

export interface Pattern {
  readonly channel: PatternChannel;
  /** As in the rule id, and unique within its channel. */
  readonly pattern: string;
  /** The path in the group: `mx.0`, `named.2`. */
  readonly path: string;
  /** `named`, `dkim`: the requested label. Headers: the name. */
  readonly key?: string;
  /** The compared text, if it differs from `pattern`; absent for a header that only has to be present. */
  readonly target?: string;
  /** The text before the version, '' if the value is the version; absent without one. */
  readonly version?: string;
}

/**
 * Headers that any server sends and any front end rewrites. Their value names a vendor, which proves less than a header
 * that only one vendor uses (`x-vercel-id`).
 */
const COMMON_HEADERS: ReadonlySet<string> = new Set([
  'server',
  'via',
  'x-powered-by',
  'x-cache',
  'x-served-by',
  'x-backend',
  'x-backend-server',
  'x-generator',
  'powered-by',
  'set-cookie',
  'link',
  'content-security-policy',
  'x-frame-options',
  'p3p',
  'x-proxy-cache',
  'x-cache-status',
  'x-cdn',
]);

/** Every pattern of a rule group with its channel. */
export function patternsOf(group: RuleGroup): readonly Pattern[] {
  return [
    ...texts('ns', group.ns),
    ...texts('soa', group.soa),
    ...texts('mx', group.mx),
    ...texts('spf', group.spf),
    ...texts('txt', group.txt),
    ...texts('dmarc', group.dmarc),
    ...texts('caa', group.caa),
    ...texts('cname', group.cname),
    ...(group.named ?? []).map(({ label, target }, i) => ({
      channel: isDkimLabel(label) ? ('dkim' as const) : ('named' as const),
      pattern: `${label}=${target}`,
      path: `named.${i}`,
      key: label,
      target,
    })),
    ...texts('dkim', group.dkim),
    ...texts('txt-at', group.txtAt, 'txtAt'),
    ...texts('address', group.address),
    ...texts('asn', group.asn?.map(String), 'asn'),
    ...texts('mail-asn', group.mailAsn?.map(String), 'mailAsn'),
    ...texts('ns-asn', group.nsAsn?.map(String), 'nsAsn'),
    ...(group.header ?? []).map(({ name, value, version }, i) => ({
      channel: channelOfHeader(name),
      pattern: value === undefined ? name : `${name}: ${value}`,
      path: `header.${i}`,
      key: name,
      ...(value === undefined ? {} : { target: value.toLowerCase() }),
      ...(version === undefined ? {} : { version }),
    })),
    ...texts('cookie', group.cookie),
    ...(group.html?.generator ?? []).map((generator, i) => ({
      channel: 'generator' as const,
      path: `html.generator.${i}`,
      ...(typeof generator === 'string'
        ? { pattern: generator }
        : { pattern: generator.start, version: generator.version }),
    })),
    ...texts('asset', group.html?.asset, 'html.asset'),
    ...texts('marker', group.html?.marker, 'html.marker'),
    ...texts('tls', group.tls),
  ];
}

/** Whether one vendor or anyone sends a header of this lower-case name. */
export function channelOfHeader(name: string): 'common-header' | 'private-header' {
  return COMMON_HEADERS.has(name) ? 'common-header' : 'private-header';
}

export function isDkimLabel(label: string): boolean {
  return label.endsWith('._domainkey');
}

function texts(channel: PatternChannel, patterns: readonly string[] | undefined, path: string = channel): Pattern[] {
  return (patterns ?? []).map((pattern, i) => ({ channel, pattern, path: `${path}.${i}` }));
}
