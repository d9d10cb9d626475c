// The ground truth of a company, in the terms by which detection is evaluated.

import { FORWARDERS } from '../providers/mail.ts';
import { siteServicesOf } from '../providers/site-services.ts';
import { type Mint, mintFor } from '../random.ts';
import type { World } from '../world.ts';
import { hasVanityServers, whiteLabelOf } from '../zone/zone.ts';
import { hasMail, listsSenders, resellerOf, spfKeeper, splitWith, vanityExchange } from '../zone/zone-mail.ts';
import { forwarderOf, isDangling, isIpv6Only, wwwAliases } from '../zone/zone-web.ts';
import { hasDmarcAlias } from './fitted-plan.ts';
import type { Plan } from './plan-type.ts';
import { sectorOf, type TrueSector } from './sectors.ts';
import { softwareOf, type TrueVersion } from './software.ts';

export type EvidenceType = 'ns' | 'soa' | 'mx' | 'spf' | 'txt' | 'dmarc' | 'cname' | 'asn' | 'header' | 'html' | 'tls';

export interface TrueService {
  /** `dns`, `email`, `email_security`, `email_sending`, `hosting`, `cdn`, `security`, `verified_service`, `certificate_authority`, `web_platform`. */
  readonly category: string;
  /** Provider id, kebab-case brand. */
  readonly provider: string;
  /** Whether the domain's published data reveal it to a complete scan. */
  readonly isVisible: boolean;
  /** The strongest evidence; null without evidence. */
  readonly shownBy: EvidenceType | null;
}

export interface Truth {
  readonly domain: string;
  readonly state: Plan['state'];
  /** Null without a company: a parked, broken or nonexistent name. */
  readonly sector: TrueSector | null;
  readonly services: readonly TrueService[];
  /** Visible software versions by provider id; empty if the site cannot be read. */
  readonly versions: Readonly<Record<string, TrueVersion>>;
  readonly redirectsTo: string | null;
  /** What makes this stack hard to detect, as text; empty for most. */
  readonly situations: readonly string[];
  readonly security: Pick<Plan, 'dmarc' | 'spfAll' | 'isSigned' | 'isBogus' | 'hasMtaSts'>;
}

type Add = (category: string, provider: string, shownBy: EvidenceType | null) => void;

export function truthOf(plan: Plan, world: World): Truth {
  const { domain, state, redirectsTo, dmarc, spfAll, isSigned, isBogus, hasMtaSts, situation } = plan;
  const services: TrueService[] = [];
  const add: Add = (category, provider, shownBy) => {
    const at = services.findIndex((each) => each.category === category && each.provider === provider);
    const service = { category, provider, isVisible: shownBy !== null, shownBy };
    if (at === -1) services.push(service);
    else if (shownBy !== null && !services[at]?.isVisible) services[at] = service;
  };
  if (state === 'parked') {
    for (const id of situation.parking === 'name-servers' ? [plan.parking] : plan.dns) add('dns', id, 'ns');
  }
  if (state === 'active') {
    addNameServers(plan, world, add);
    addMail(plan, world, add);
    addWeb(plan, world, add);
    for (const id of plan.tokens) add('verified_service', id, 'txt');
  }
  const versions = state === 'active' && isRead(plan) ? softwareOf(plan, world).versions : {};
  return {
    domain,
    state,
    sector: state === 'active' ? sectorOf(domain, { isRead: isRead(plan) }) : null,
    services,
    versions,
    redirectsTo,
    situations: situationsOf(plan, world),
    security: { dmarc, spfAll, isSigned, isBogus, hasMtaSts },
  };
}

function addNameServers(plan: Plan, world: World, add: Add): void {
  const isHidden = hasVanityServers(plan, world) || whiteLabelOf(plan) !== undefined;
  for (const id of plan.dns) {
    const { isOwnNetwork, rname } = world.templates.dns.of(id);
    const mint = mintFor(world.seed, plan.domain);
    // An SOA that names the provider, or an address in the provider's own network.
    const isRevealed = plan.situation.nameServers !== 'silent' && !rname(mint).endsWith(plan.domain);
    const hidden = isRevealed ? 'soa' : isOwnNetwork ? 'asn' : null;
    // All servers under the company's name are at the first provider: a second one is not visible.
    const evidence = id === plan.dns[0] ? hidden : null;
    add('dns', id, isHidden ? evidence : 'ns');
  }
}

function addMail(plan: Plan, world: World, add: Add): void {
  const { templates, seed } = world;
  const { situation } = plan;
  const mint = mintFor(seed, plan.domain);
  if (situation.leftovers.includes('token')) {
    // The account was verified once, whatever happened since.
    if (situation.formerMailbox) add('verified_service', situation.formerMailbox, null);
  }
  if (!hasMail(plan)) return;
  if (plan.gateway) add('email_security', plan.gateway, 'mx');
  for (const id of [plan.mailbox, splitWith(plan, world) ?? '']) {
    if (!templates.mailbox.has(id)) continue;
    // Behind a gateway, client setup names reveal the mailbox, or an exchange that was left. An exchange with a vanity
    // name is identified by its address only, which other providers may share.
    const isNamed = plan.gateway === null && vanityExchange(plan, world) === null;
    const isReached = isNamed || (plan.gateway !== null && situation.exchange === 'bypass');
    const hint = templates.mailbox.of(id).hasHint ? 'cname' : null;
    add(FORWARDERS.has(id) ? 'email_security' : 'email', id, isReached ? 'mx' : hint);
    add('email_sending', id, null);
  }
  if (plan.gateway) add('email_sending', plan.gateway, null);
  for (const id of plan.senders) {
    const hasAlias = (templates.sender.of(id).customer?.(mint) ?? []).some(({ cname }) => cname !== undefined);
    add('email_sending', id, listsSenders(plan) ? 'spf' : hasAlias ? 'cname' : null);
  }
  if (situation.policy === 'reseller' && plan.spfAll !== null) addResold(mint, add);
  const vendor = spfKeeper(plan, world);
  if (vendor) add('email_security', vendor, 'spf');
  if (plan.reports && plan.dmarc) {
    add('email_security', plan.reports, 'dmarc');
    const isListed = !hasDmarcAlias(plan, templates);
    if (situation.secondReports) add('email_security', situation.secondReports, isListed ? 'dmarc' : null);
  }
}

/** A reseller's customers may send with every service in its record; whether they do is not visible. */
function addResold(mint: Mint, add: Add): void {
  const ids: Readonly<Record<string, string>> = {
    'spf.protection.outlook.com': 'microsoft-365',
    '_spf.google.com': 'google-workspace',
    'sendgrid.net': 'sendgrid',
    'servers.mcsv.net': 'mailchimp',
  };
  for (const host of resellerOf(mint).includes) add('email_sending', ids[host] ?? host, null);
}

function addWeb(plan: Plan, world: World, add: Add): void {
  const { templates } = world;
  const isReadable = isRead(plan);
  const cdn = plan.cdn ? templates.cdn.of(plan.cdn) : null;
  const hosting = plan.hosting === 'self' ? null : templates.hosting.of(plan.hosting);
  const hasAlias = wwwAliases(plan, mintFor(world.seed, plan.domain), world).length > 0;
  const isUp = plan.site !== 'refused' && plan.site !== 'reset';
  const isOwn = plan.site !== 'holding';
  if (cdn) {
    // The network's addresses reveal it if nothing else does.
    const shownBy = cdn.www ? 'cname' : 'asn';
    add('cdn', cdn.id, isUp ? shownBy : null);
    for (const { category, provider } of cdn.also ?? []) add(category, provider, null);
  }
  if (hosting) {
    const isSoftware = templates.platform.has(hosting.id) && hosting.platforms?.includes(hosting.id) === true;
    const showsHeader = hosting.headers !== undefined && isReadable;
    const byName = isUp && hasAlias && !cdn ? 'cname' : showsHeader ? 'header' : null;
    const byAddress = isReadable && !cdn && !hosting.isScattered ? 'asn' : null;
    add('hosting', hosting.id, isSoftware ? null : (byName ?? byAddress));
    for (const { category, provider } of hosting.also ?? []) add(category, provider, null);
  }
  const isSecure = isUp && isOwn && plan.site !== 'http-only' && plan.site !== 'slow';
  // A certificate for another name does not identify the domain's authority.
  const isShown = isSecure && plan.certificate !== 'wrong-name';
  if (plan.certificate !== 'self-signed' && isOwn) add('certificate_authority', plan.authority, isShown ? 'tls' : null);
  if (plan.hasCaa) add('certificate_authority', plan.authority, null);
  if (!isOwn) return;
  if (plan.platform !== 'static') add('web_platform', plan.platform, isReadable ? 'html' : null);
  for (const { category, provider } of templates.platform.of(plan.platform).also ?? []) add(category, provider, null);
  const isOwnServer = hosting?.server === undefined;
  const isForged = plan.situation.forgedServer !== null;
  const isServerShown = isReadable && cdn?.server === undefined && !isForged;
  if (isOwnServer) add('web_platform', plan.server, isServerShown ? 'header' : null);
  for (const id of plan.situation.widgets) {
    const { delivers } = templates.widget.of(id);
    add('web_platform', id, isReadable ? 'html' : null);
    if (delivers) add('web_platform', delivers, null);
  }
  for (const { id, category, label, cookies } of siteServicesOf(plan.siteServices))
    add(category, id, label !== undefined ? 'cname' : isReadable ? (cookies ? 'header' : 'html') : null);
  const { versions } = softwareOf(plan, world);
  for (const id of ['php', 'asp-net']) if (versions[id]) add('web_platform', id, isReadable ? 'header' : null);
  // Present, although configured not to show it.
  if (templates.platform.of(plan.platform).isPhp) add('web_platform', 'php', null);
  // A library named only in the server's own header: detecting it is correct, missing it is not an error.
  if (versions.openssl) add('web_platform', 'openssl', null);
}

/** Whether a visitor reaches the site's own pages. */
function isRead({ site }: Plan): boolean {
  return site === 'ok' || site === 'http-only';
}

/** The situations of this domain that make detection hard; drawn ones without effect are omitted. */
function situationsOf(plan: Plan, world: World): string[] {
  const { situation: s, state, site } = plan;
  if (state === 'parked') return [`parked by ${s.parking}`];
  if (state !== 'active') return [];
  const isMailed = hasMail(plan);
  const hasOwnServer = plan.mailbox === 'self' && plan.gateway === null;
  const flags: readonly (readonly [boolean, string])[] = [
    [plan.gateway !== null, 'gateway'],
    [splitWith(plan, world) !== null, 'split delivery'],
    [s.exchange === 'backup' && isMailed && plan.gateway === null, 'backup exchange'],
    [s.exchange === 'bypass' && plan.gateway !== null, 'exchange behind the gateway'],
    [s.exchange === 'residue', 'verification record in MX'],
    [s.exchange === 'implicit' && hasOwnServer, 'implicit exchange'],
    [s.exchange === 'rented' && hasOwnServer, 'rented server'],
    [vanityExchange(plan, world) !== null, 'vanity exchange'],
    [s.policy !== 'usual' && isMailed && plan.spfAll !== null, `policy ${s.policy}`],
    [s.leftovers.length > 0 && isMailed && s.formerMailbox !== plan.mailbox, `leftovers ${s.leftovers.join(' ')}`],
    [s.formerSender !== null, 'former sender'],
    [s.hasHugeTxt, 'huge TXT'],
    [hasDmarcAlias(plan, world.templates) && isMailed, 'DMARC alias'],
    [hasVanityServers(plan, world), `name servers ${s.nameServers}`],
    [whiteLabelOf(plan) !== undefined, 'name servers white-label'],
    [s.formerDns !== null, 'parent delegates elsewhere'],
    [s.wildcard !== 'none', `wildcard ${s.wildcard}`],
    [s.leak !== 'none' && plan.cdn !== null, `leak ${s.leak}`],
    [plan.isBogus, 'DNSSEC broken'],
    [s.hasSharedCertificate, 'shared certificate'],
    [s.forgedServer !== null && site === 'ok', 'forged Server header'],
    [s.hasForeignAsset && site === 'ok', 'foreign asset'],
    [s.spareAuthority !== null && plan.hasCaa, 'spare CAA'],
    [forwarderOf(plan, world) !== null, 'apex forwarded'],
    [isDangling(plan), 'dangling www'],
    [isIpv6Only(plan, world), 'IPv6 only'],
    [plan.certificate !== 'good', `certificate ${plan.certificate}`],
    [site !== 'ok', `site ${site}`],
  ];
  return flags.flatMap(([is, name]) => (is ? [name] : []));
}
