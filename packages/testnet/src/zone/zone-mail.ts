// The mail part of a zone: MX records, policies, keys, and the texts of current and former services.

import { hasDmarcAlias } from '../companies/fitted-plan.ts';
import type { Plan } from '../companies/plan-type.ts';
import { addressIn, type NetworkRef } from '../dns/networks.ts';
import { ABANDONED_LABEL, rentedServers, resellers } from '../providers/extras.ts';
import { type CustomerName, type Exchange, FORWARDERS } from '../providers/mail.ts';
import { dkimKey } from '../providers/template.ts';
import type { Mint } from '../random.ts';
import { policyHost } from '../web/well-known.ts';
import type { World } from '../world.ts';
import type { Put } from './zone-record.ts';
import { addressOfOrigin, networkOfSite } from './zone-web.ts';

/** More than ten lookups in total, RFC 7208 section 4.6.4. */
const TOO_MANY = 11;
const HUGE_TXT_RECORDS = 60;

export function hasMail({ mailbox }: Plan): boolean {
  return mailbox !== 'none' && mailbox !== 'null-mx';
}

/** The second mailbox, if two share the mail. */
export function splitWith({ situation, mailbox, gateway }: Plan, { templates }: World): string | null {
  const { exchange, secondMailbox } = situation;
  const isOwn = templates.mailbox.has(mailbox) && !FORWARDERS.has(mailbox);
  if (exchange !== 'split' || !isOwn || gateway !== null || secondMailbox === null) return null;
  return secondMailbox !== mailbox && !FORWARDERS.has(secondMailbox) ? secondMailbox : null;
}

/** Whether the policy names the sending services. */
export function listsSenders({ situation, spfAll }: Plan): boolean {
  return spfAll !== null && !['flattened', 'hosted', 'reseller'].includes(situation.policy);
}

/** The processor that hosts the SPF record, if there is one. */
export function spfKeeper({ situation, reports, spfAll }: Plan, { templates }: World): string | null {
  if (situation.policy !== 'hosted' || reports === null || spfAll === null) return null;
  return templates.reports.of(reports).hosted ? reports : null;
}

export function putMail(plan: Plan, mint: Mint, world: World, put: Put): void {
  const taken = new Set<string>();
  const putOnce = (names: readonly CustomerName[]) => {
    for (const { label, cname, txt } of names) {
      if (taken.has(label)) continue;
      taken.add(label);
      put(label, cname ? 'CNAME' : 'TXT', cname ?? [txt]);
    }
  };
  for (const [preference, exchange] of exchangesOf(plan, mint, world)) put('', 'MX', { preference, exchange });
  if (plan.mailbox === 'self') {
    const isLeak = plan.cdn !== null && plan.situation.leak === 'mail';
    const network = isLeak ? networkOfSite(plan, world) : plan.accessNetwork;
    put('mail', 'A', addressIn(network, `${plan.domain}/mail`));
    put('mail._domainkey', 'TXT', [dkimKey(mint, 'self-dkim')]);
  }
  const host = vanityExchange(plan, world);
  if (host !== null) put('mx1', 'A', addressIn(host, `${plan.domain}/mx1`));
  putOnce(customerNames(plan, mint, world));
  putLeftovers(plan, mint, world, put, putOnce);
  putPolicy(plan, mint, world, put);
  for (const id of plan.tokens) put('', 'TXT', [world.templates.token.of(id).txt(mint)]);
  if (plan.situation.hasHugeTxt)
    for (let i = 0; i < HUGE_TXT_RECORDS; i += 1) put('', 'TXT', [`vendor-${i}-check=${mint.code(`huge-${i}`, 72)}`]);
  putReports(plan, mint, world, put);
}

function exchangesOf(plan: Plan, mint: Mint, { templates }: World): Exchange[] {
  const { situation } = plan;
  const residue: Exchange[] =
    situation.exchange === 'residue' ? [[32767, `ms${mint.number('ms-token', 10000000, 99999999)}.msv1.invalid`]] : [];
  if (plan.mailbox === 'null-mx') return [[0, '.']];
  if (plan.mailbox === 'none') return residue;
  const isOwnServer = plan.mailbox === 'self' && plan.gateway === null;
  if (isOwnServer && situation.exchange === 'implicit') return [];
  if (isOwnServer && situation.exchange === 'rented') return [[10, rentedHost(mint)]];
  const mailbox = templates.mailbox.has(plan.mailbox) ? templates.mailbox.of(plan.mailbox).mx(mint) : null;
  const own: readonly Exchange[] = mailbox ?? [
    [10, plan.mailbox === 'regional' ? `mx1.${plan.regional}` : `mail.${plan.domain}`],
  ];
  if (mailbox && !plan.gateway && situation.exchange === 'vanity') return [[10, `mx1.${plan.domain}`]];
  const used = plan.gateway ? templates.gateway.of(plan.gateway).mx(mint) : own;
  const lowest = Math.min(...used.map(([preference]) => preference));
  const second = splitWith(plan, { templates } as World);
  const backups =
    situation.secondMailbox === null || situation.secondMailbox === plan.mailbox
      ? []
      : templates.mailbox.of(situation.secondMailbox).mx(mint);
  const more: Exchange[] = [];
  if (second) more.push([lowest, backups[0]?.[1] ?? '']);
  if (situation.exchange === 'backup' && !plan.gateway && backups[0]) more.push([90, backups[0][1]]);
  if (situation.exchange === 'bypass' && plan.gateway && mailbox?.[0]) more.push([90, mailbox[0][1]]);
  return [...used, ...more, ...residue];
}

/** The mailbox provider's network, if its exchange has a name of the company's. */
export function vanityExchange({ situation, mailbox, gateway }: Plan, { templates }: World): NetworkRef | null {
  if (situation.exchange !== 'vanity' || gateway !== null || !templates.mailbox.has(mailbox)) return null;
  return templates.mailbox.of(mailbox).names[0]?.network ?? null;
}

function rentedHost(mint: Mint): string {
  const server = rentedServers[mint.number('rented', 0, rentedServers.length - 1)];
  return server ? `${server.label(mint)}.${server.suffix}` : `mail.${mint.domain}`;
}

/** The records that the company's services require. */
function customerNames(plan: Plan, mint: Mint, world: World): CustomerName[] {
  const { templates } = world;
  const mailboxes = [plan.mailbox, splitWith(plan, world) ?? ''].filter((id) => templates.mailbox.has(id));
  const names = mailboxes.flatMap((id) => templates.mailbox.of(id).customer?.(mint) ?? []);
  const sent = hasMail(plan) ? plan.senders.flatMap((id) => templates.sender.of(id).customer?.(mint) ?? []) : [];
  const keyless = plan.situation.hasKeylessSelector ? 'selector2._domainkey' : '';
  return [...names, ...sent].map((name) =>
    name.label === keyless && name.cname ? { ...name, cname: `${ABANDONED_LABEL}${name.cname}` } : name,
  );
}

/** Records of a former mailbox and a former sender that were not removed. */
function putLeftovers(
  plan: Plan,
  mint: Mint,
  { templates }: World,
  put: Put,
  putOnce: (names: readonly CustomerName[]) => void,
): void {
  const { formerMailbox, leftovers, formerSender } = plan.situation;
  const former = formerMailbox === null ? null : templates.mailbox.of(formerMailbox);
  const mailbox = templates.mailbox.has(plan.mailbox) ? templates.mailbox.of(plan.mailbox) : null;
  if (former && former !== mailbox && hasMail(plan)) {
    const names = former.customer?.(mint) ?? [];
    if (leftovers.includes('selectors')) putOnce(names.filter(({ label }) => label.endsWith('._domainkey')));
    if (leftovers.includes('autodiscover')) putOnce(names.filter(({ label }) => label === 'autodiscover'));
    if (leftovers.includes('token') && former.txt) put('', 'TXT', [former.txt(mint)]);
  }
  if (mailbox?.txt) put('', 'TXT', [mailbox.txt(mint)]);
  if (formerSender !== null && !plan.senders.includes(formerSender)) {
    const names = templates.sender.of(formerSender).customer?.(mint) ?? [];
    putOnce(names.flatMap((name) => (name.cname ? { ...name, cname: `${ABANDONED_LABEL}${name.cname}` } : [])));
  }
}

/** SPF terms of the mailbox and of the services, without `all`. */
function termsOf(plan: Plan, mint: Mint, world: World): { mailbox: string[]; senders: string[] } {
  const { templates } = world;
  const mailbox: string[] = [];
  if (plan.mailbox === 'self') mailbox.push(plan.situation.exchange === 'implicit' ? 'a' : 'mx');
  if (plan.mailbox === 'regional') mailbox.push(`include:_spf.${plan.regional}`);
  const gateway = plan.gateway && templates.gateway.of(plan.gateway).spf?.(mint);
  if (gateway) mailbox.push(gateway);
  for (const id of [plan.mailbox, splitWith(plan, world) ?? '']) {
    const spf = templates.mailbox.has(id) ? templates.mailbox.of(id).spf?.(mint) : undefined;
    if (spf) mailbox.push(spf);
  }
  if (plan.cdn && plan.situation.leak === 'policy') mailbox.push(`ip4:${addressOfOrigin(plan, mint, world)}`);
  const senders = hasMail(plan) ? plan.senders.map((id) => `include:${templates.sender.of(id).spf(mint)}`) : [];
  return { mailbox, senders };
}

function putPolicy(plan: Plan, mint: Mint, world: World, put: Put): void {
  const { mailbox, senders } = termsOf(plan, mint, world);
  if (!plan.spfAll) return;
  if (mailbox.length + senders.length > 0 || (hasMail(plan) && spfKeeper(plan, world) !== null)) {
    const { apex, below } = policyTexts(plan, mint, world, { all: plan.spfAll, mailbox, senders });
    for (const text of apex) put('', 'TXT', [text]);
    if (below !== undefined) put('_spf', 'TXT', [below]);
  } else if (!hasMail(plan)) put('', 'TXT', ['v=spf1 -all']);
}

interface PolicyTerms {
  readonly all: string;
  readonly mailbox: readonly string[];
  readonly senders: readonly string[];
}

/** The texts at the apex, and the one at `_spf` if they refer to it. */
function policyTexts(
  { domain, situation, ...plan }: Plan,
  mint: Mint,
  world: World,
  { all, mailbox, senders }: PolicyTerms,
): { readonly apex: readonly string[]; readonly below?: string } {
  const record = (...terms: readonly string[]) => ['v=spf1', ...terms, all].join(' ');
  const complete = record(...mailbox, ...senders);
  const flat = Array.from(
    { length: 3 + senders.length },
    (_, i) => `ip4:${addressIn('amazon-east', `${domain}/${i}`)}`,
  );
  switch (situation.policy) {
    case 'usual':
      return { apex: [complete] };
    case 'nested':
      return { apex: [record(`include:_spf.${domain}`)], below: complete };
    case 'redirected':
      return { apex: [`v=spf1 redirect=_spf.${domain}`], below: complete };
    case 'reseller':
      return { apex: [record(...mailbox, `include:${resellerOf(mint).host}`)] };
    case 'flattened':
      return { apex: [record(...flat)] };
    case 'hosted': {
      const vendor = spfKeeper({ domain, situation, ...plan }, world);
      const hosted = vendor === null ? undefined : world.templates.reports.of(vendor).hosted?.spf(mint);
      return { apex: [record(...(hosted === undefined ? flat : [hosted]))] };
    }
    case 'several':
      return { apex: senders.length > 0 ? [record(...mailbox), record(...senders)] : [record(...mailbox)] };
    case 'too-many': {
      const filling = Array.from({ length: TOO_MANY }, (_, i) => `a:host${i}.${domain}`);
      return { apex: [record(...mailbox, ...senders, ...filling)] };
    }
    default:
      return situation.policy satisfies never;
  }
}

/** The reseller that the company buys from. */
export function resellerOf(mint: Mint): (typeof resellers)[number] {
  const reseller = resellers[mint.number('reseller', 0, resellers.length - 1)];
  if (!reseller) throw new RangeError('no resellers');
  return reseller;
}

function putReports(plan: Plan, mint: Mint, world: World, put: Put): void {
  const { templates } = world;
  if (!hasMail(plan)) return;
  if (hasDmarcAlias(plan, templates)) {
    const alias = templates.reports.of(plan.reports ?? '').hosted?.dmarc(mint);
    put('_dmarc', 'CNAME', alias);
  } else if (plan.dmarc) {
    const ids = [plan.reports, plan.situation.secondReports].filter((id) => id !== null && plan.reports !== null);
    const addresses = [...new Set(ids)].map((id) => `mailto:${templates.reports.of(id ?? '').address(mint)}`);
    put('_dmarc', 'TXT', [`v=DMARC1; p=${plan.dmarc}${addresses.length > 0 ? `; rua=${addresses.join(',')}` : ''}`]);
  }
  if (plan.hasMtaSts) {
    put('_mta-sts', 'TXT', [`v=STSv1; id=${mint.number('sts', 20240101, 20261231)}`]);
    put('mta-sts', 'A', addressIn('amazon-east', policyHost(plan)));
  }
  if (plan.hasTlsRpt) put('_smtp._tls', 'TXT', [`v=TLSRPTv1; rua=mailto:tls@${plan.domain}`]);
  if (plan.hasBimi) put('default._bimi', 'TXT', [`v=BIMI1; l=https://${plan.domain}/logo.svg; a=`]);
}
