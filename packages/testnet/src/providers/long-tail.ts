// Templates for the many providers without a handwritten one, generated from a rulebook's patterns. Measurements on
// them show whether the rulebook is complete and consistent, not whether its patterns are true.
import { allNetworks, type Network, type NetworkRef } from '../dns/networks.ts';
import { hashOf, type Mint } from '../random.ts';
import type { DnsTemplate } from './dns.ts';
import type { MailTemplate, ReportTemplate, SenderTemplate } from './mail.ts';
import { type Patterns, plausibleHost, readPatterns, zoneOfHost } from './patterns.ts';
import type { AuthorityTemplate, CdnTemplate, HostingTemplate, PlatformTemplate, WidgetTemplate } from './sites.ts';
import { names, type Revealed } from './template.ts';
import type { TokenTemplate } from './tokens.ts';

export interface LongTail {
  readonly dns: readonly DnsTemplate[];
  readonly mailbox: readonly MailTemplate[];
  readonly gateway: readonly MailTemplate[];
  readonly sender: readonly SenderTemplate[];
  readonly reports: readonly ReportTemplate[];
  readonly token: readonly TokenTemplate[];
  readonly hosting: readonly HostingTemplate[];
  readonly cdn: readonly CdnTemplate[];
  readonly platform: readonly PlatformTemplate[];
  readonly widget: readonly WidgetTemplate[];
  readonly authority: readonly AuthorityTemplate[];
  readonly networks: readonly Network[];
}

/** Servers of providers without a known network. */
const ELSEWHERE: readonly NetworkRef[] = ['telekom', 'comcast', 'bt', 'orange', 'kpn'];
/** First octets of unannounced address space; each of the long tail's networks has a /16 of it. */
const FREE_OCTETS = [11, 21, 22, 26, 28, 29, 30, 33];
/** Headers of the server itself, or with more than a name. */
const NO_HEADER: ReadonlySet<string> = new Set([
  'server',
  'set-cookie',
  'content-security-policy',
  'link',
  'via',
  'p3p',
]);

export function longTailOf(catalog: readonly unknown[]): LongTail {
  const all = readPatterns(catalog);
  const networks = new Map(allNetworks.map((network) => [network.asn, network]));
  const made: Network[] = [];
  const networkOfAsn = (asn: number): Network => {
    const known = networks.get(asn);
    if (known) return known;
    const at = made.length;
    const v4 = [`${FREE_OCTETS[(at >> 8) % FREE_OCTETS.length]}.${at & 255}.0.0/16`];
    const network = { asn, name: `AS${asn}`, country: 'ZZ', registry: 'arin', allocated: '2010-01-01', v4 } as const;
    networks.set(asn, network);
    made.push(network);
    return network;
  };
  const of = <T>(category: string, make: (patterns: Patterns) => T | undefined) =>
    all.filter((each) => each.category === category).flatMap((each) => make(each) ?? []);
  const alsoOf = (id: string, kinds: readonly string[]): Revealed[] =>
    all
      .filter((each) => each.id === id && kinds.includes(each.category))
      .map(({ category }) => ({ category, provider: id }));
  return {
    dns: of('dns', dnsTemplate),
    mailbox: of('email', mailTemplate),
    gateway: of('email_security', mailTemplate),
    sender: of('email_sending', senderTemplate),
    reports: of('email_security', reportTemplate),
    token: of('verified_service', tokenTemplate),
    hosting: of('hosting', (patterns) =>
      hostingTemplate(patterns, networkOfAsn, alsoOf(patterns.id, ['cdn', 'web_platform', 'security'])),
    ),
    cdn: of('cdn', (patterns) => cdnTemplate(patterns, networkOfAsn, alsoOf(patterns.id, ['security', 'hosting']))),
    platform: of('web_platform', (patterns) =>
      platformTemplate(patterns, alsoOf(patterns.id, ['hosting', 'cdn', 'security'])),
    ),
    widget: of('web_platform', widgetTemplate),
    authority: of('certificate_authority', authorityTemplate),
    networks: made,
  };
}

const elsewhere = (id: string) => ELSEWHERE[hashOf(id, 'network') % ELSEWHERE.length] ?? 'telekom';

function dnsTemplate({ id, ns, isParking }: Patterns): DnsTemplate | undefined {
  const [first] = ns;
  if (first === undefined || isParking) return undefined;
  const hosts = ['1', '2'].map((n) => plausibleHost(first, `ns${n}`, n));
  const zone = zoneOfHost(first, hosts[0] ?? first);
  const zones = first.includes('*') ? hosts : [zone];
  return { id, weight: 1, zones, ns: () => hosts, rname: (m) => `hostmaster.${m.domain}` };
}

function mailTemplate({ id, mx, spf }: Patterns): MailTemplate | undefined {
  const [first] = mx;
  if (first === undefined) return undefined;
  const hosts = ['1', '2'].map((n) => plausibleHost(first, `mx${n}`, n));
  const include = spf.find((pattern) => !pattern.includes('*'));
  const network = elsewhere(id);
  return {
    id,
    weight: 1,
    mx: () => hosts.map((host, i) => [10 * (i + 1), host] as const),
    ...(include ? { spf: () => `include:${include}` } : {}),
    names: [...names(network, ['host'], ...hosts), ...(include ? names(network, ['host', 'spf'], include) : [])],
  };
}

function senderTemplate({ id, spf, named }: Patterns): SenderTemplate | undefined {
  const include = spf.find((pattern) => !pattern.includes('*'));
  if (include === undefined) return undefined;
  const network = elsewhere(id);
  const selectors = named.filter(({ label, target }) => label.endsWith('._domainkey') && !target.includes('*'));
  return {
    id,
    weight: 1,
    spf: () => include,
    customer: (m) => selectors.slice(0, 2).map(({ label, target }) => ({ label, cname: `${m.slug}.${target}` })),
    names: [
      ...names(network, ['host', 'spf'], include),
      ...selectors.slice(0, 2).flatMap(({ target }) => names(network, ['dkim'], target)),
    ],
  };
}

function reportTemplate({ id, dmarc }: Patterns): ReportTemplate | undefined {
  const host = dmarc.find((pattern) => !pattern.includes('*'));
  if (host === undefined) return undefined;
  return {
    id,
    weight: 1,
    address: (m) => `${m.hex('report', 10)}@${host}`,
    names: names(elsewhere(id), ['host', 'report'], host),
  };
}

function tokenTemplate({ id, txt }: Patterns): TokenTemplate | undefined {
  const [start] = txt;
  return start === undefined ? undefined : { id, weight: 1, txt: (m) => `${start}${m.code(`token-${id}`, 32)}` };
}

function hostingTemplate(
  { id, cname, asn, header }: Patterns,
  networkOfAsn: (asn: number) => Network,
  also: readonly Revealed[],
): HostingTemplate | undefined {
  const alias = cname.find((pattern) => !pattern.includes('*'));
  const [number] = asn;
  const headers = shownHeaders(header);
  if (alias === undefined && number === undefined && !headers) return undefined;
  const network = number === undefined ? elsewhere(id) : networkOfAsn(number);
  return {
    id,
    weight: 1,
    network,
    ...(number === undefined ? { isScattered: true as const } : {}),
    ...(alias ? { www: (m: Mint) => [`${m.slug}.${alias}`], apex: [apexOf(id, network)] } : {}),
    ...(headers ? { headers } : {}),
    ...(also.length > 0 ? { also } : {}),
    names: alias ? names(network, ['host'], alias) : [],
  };
}

function cdnTemplate(
  { id, cname, asn, header }: Patterns,
  networkOfAsn: (asn: number) => Network,
  also: readonly Revealed[],
): CdnTemplate | undefined {
  const alias = cname.find((pattern) => !pattern.includes('*'));
  const [number] = asn;
  if (alias === undefined && number === undefined) return undefined;
  const network = number === undefined ? elsewhere(id) : networkOfAsn(number);
  return {
    id,
    weight: 1,
    network,
    ...(alias ? { www: (m: Mint) => [`${m.slug}.${alias}`] } : {}),
    headers: shownHeaders(header) ?? (() => ({})),
    issuers: ['lets-encrypt'],
    ...(also.length > 0 ? { also } : {}),
    names: alias ? names(network, ['host'], alias) : [],
  };
}

/** The first header that does not conflict with those of the server and other parts. */
function shownHeaders(header: Patterns['header']) {
  const shown = header.find(({ name }) => !NO_HEADER.has(name) && !name.startsWith('x-powered'));
  return shown && ((m: Mint) => ({ [shown.name]: shown.value ?? m.hex(shown.name, 16) }));
}

function platformTemplate(
  { id, generator, header, cookie, fragments, markers }: Patterns,
  also: readonly Revealed[],
): PlatformTemplate | undefined {
  const [start] = generator;
  const shown = header.find(({ name }) => !NO_HEADER.has(name));
  const cookies = cookie.slice(0, 1).map((name) => name.replace('*', '1f3a'));
  if (start === undefined && !shown && cookies.length + fragments.length + markers.length === 0) return undefined;
  return {
    id,
    weight: 1,
    isPhp: false,
    ...(also.length > 0 ? { also } : {}),
    ...(start ? { generator: () => start } : {}),
    ...(shown ? { headers: { [shown.name]: shown.value ?? '1' } } : {}),
    cookies,
    assets: () => fragments.slice(0, 2).map((fragment) => `${fragment.replace(/\/$/, '')}/main.js`),
    body: () => markers.slice(0, 1).map(elementOf).join(''),
  };
}

/** An element with the marker as its id, or as an attribute if it is one. */
function elementOf(marker: string): string {
  return /^(?:data-|ng-)/.test(marker) ? `<div ${marker}="1"></div>` : `<div id="${marker}"></div>`;
}

function widgetTemplate({ id, assets }: Patterns): WidgetTemplate | undefined {
  const asset = assets.find((pattern) => !pattern.includes('*'));
  if (asset === undefined) return undefined;
  const url = asset.includes('/') ? asset : `${asset}/`;
  return { id, weight: 1, asset: () => `https://${url}${url.endsWith('/') ? 'loader.js' : ''}` };
}

function authorityTemplate({ id, tls, caa }: Patterns): AuthorityTemplate | undefined {
  const [organisation] = tls;
  if (organisation === undefined) return undefined;
  return { id, weight: 1, organisation, commonName: `${organisation} R1`, country: 'US', caa: caa[0] ?? null };
}

function apexOf(id: string, network: NetworkRef): string {
  const octet = 2 + (hashOf(id, 'apex') % 200);
  const prefix = typeof network === 'string' ? undefined : network.v4[0];
  return prefix ? `${prefix.split('.').slice(0, 2).join('.')}.9.${octet}` : `87.130.9.${octet}`;
}
