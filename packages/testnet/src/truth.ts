// What is really so, in the words that detection is judged by.
import { FORWARDERS, type Plan } from './plan.ts';
import { templates } from './providers/index.ts';
import { mintFor } from './random.ts';
import { softwareOf, type TrueVersion } from './software.ts';
import { wwwAliases } from './zone.ts';

export interface TrueService {
  /** `dns`, `email`, `email_security`, `email_sending`, `hosting`, `cdn`, `security`, `verified_service`, `certificate_authority`, `web_platform`. */
  readonly category: string;
  /** Provider id, kebab-case brand. */
  readonly provider: string;
  /** Whether anything that the domain publishes shows it. */
  readonly isVisible: boolean;
}

export interface Truth {
  readonly domain: string;
  readonly state: Plan['state'];
  readonly services: readonly TrueService[];
  /** What the site shows of its software, by provider id; empty where it is not seen. */
  readonly versions: Readonly<Record<string, TrueVersion>>;
  readonly redirectsTo: string | null;
  readonly security: Pick<Plan, 'dmarc' | 'spfAll' | 'isSigned' | 'hasMtaSts'>;
}

export function truthOf(plan: Plan, seed: string): Truth {
  const { domain, state, redirectsTo, dmarc, spfAll, isSigned, hasMtaSts } = plan;
  const services: TrueService[] = [];
  const add = (category: string, provider: string, isVisible = true) => {
    if (services.some((each) => each.category === category && each.provider === provider)) return;
    services.push({ category, provider, isVisible });
  };
  if (state === 'parked') add('dns', plan.parking);
  if (state === 'active') {
    for (const id of plan.dns) add('dns', id, !(plan.isVanity && templates.dns.of(id).hasVanity === true));
    addMail(plan, add);
    addWeb(plan, seed, add);
    for (const id of plan.tokens) add('verified_service', id);
  }
  const versions = state === 'active' && isRead(plan) ? softwareOf(plan, seed).versions : {};
  return { domain, state, services, versions, redirectsTo, security: { dmarc, spfAll, isSigned, hasMtaSts } };
}

type Add = (category: string, provider: string, isVisible?: boolean) => void;

function addMail(plan: Plan, add: Add): void {
  if (['none', 'null-mx'].includes(plan.mailbox)) return;
  if (plan.gateway) add('email_security', plan.gateway);
  if (templates.mailbox.has(plan.mailbox)) {
    // Behind a gateway only a client's set-up names show the mailbox.
    const isVisible = plan.gateway === null || templates.mailbox.of(plan.mailbox).hasHint === true;
    add(FORWARDERS.has(plan.mailbox) ? 'email_security' : 'email', plan.mailbox, isVisible);
    if (!FORWARDERS.has(plan.mailbox)) add('email_sending', plan.mailbox, false);
  }
  for (const id of plan.senders) add('email_sending', id, plan.spfAll !== null);
  if (plan.reports && plan.dmarc) add('email_security', plan.reports);
}

function addWeb(plan: Plan, seed: string, add: Add): void {
  const isSeen = isRead(plan);
  const cdn = plan.cdn ? templates.cdn.of(plan.cdn) : null;
  const hosting = plan.hosting === 'self' ? null : templates.hosting.of(plan.hosting);
  const hasAlias = wwwAliases(plan, mintFor(seed, plan.domain)).length > 0;
  const isUp = plan.site !== 'refused' && plan.site !== 'reset';
  if (cdn) {
    add('cdn', cdn.id, isUp);
    for (const { category, provider } of cdn.also ?? []) add(category, provider, false);
  }
  if (hosting) {
    const isSoftware = templates.platform.has(hosting.id) && hosting.platforms?.includes(hosting.id) === true;
    const showsHeader = hosting.headers !== undefined && isSeen;
    const isVisible = cdn ? showsHeader : isSeen || (isUp && hasAlias);
    add('hosting', hosting.id, isVisible && !isSoftware);
    for (const { category, provider } of hosting.also ?? []) add(category, provider, false);
  }
  const isSecure = isUp && plan.site !== 'http-only' && plan.site !== 'slow';
  if (plan.certificate !== 'self-signed') add('certificate_authority', plan.authority, isSecure);
  if (plan.hasCaa) add('certificate_authority', plan.authority, false);
  if (plan.platform !== 'static') add('web_platform', plan.platform, isSeen);
  const isOwnServer = hosting?.server === undefined;
  if (isOwnServer) add('web_platform', plan.server, isSeen && cdn?.server === undefined);
  const { versions } = softwareOf(plan, seed);
  for (const id of ['php', 'asp-net']) if (versions[id]) add('web_platform', id, isSeen);
  // Configured not to say so, it is still there.
  if (templates.platform.of(plan.platform).isPhp) add('web_platform', 'php', false);
  // A library that only stands in the server's own line: right to say, no fault to miss.
  if (versions.openssl) add('web_platform', 'openssl', false);
}

/** Whether a visitor gets to the site's own pages. */
function isRead({ site }: Plan): boolean {
  return site === 'ok' || site === 'http-only';
}
