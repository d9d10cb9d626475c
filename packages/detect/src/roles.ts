// The roles of providers, one table: the public categories are coarser, and every role belongs to one of them.
import type { Kind } from './rulebook/kinds.ts';

/** The public categories of a service. */
export const CATEGORIES = [
  'dns',
  'email',
  'email_security',
  'email_sending',
  'hosting',
  'cdn',
  'security',
  'verified_service',
  'certificate_authority',
  'web_platform',
] as const;
export type Category = (typeof CATEGORIES)[number];

interface RoleFacts {
  readonly label: string;
  readonly category: Category;
  /** Kinds of providers that have this role in the category. */
  readonly kinds?: readonly Kind[];
  /** One holder at a time, so that a change of holder is a migration; the other roles are sets. */
  readonly isExclusive?: true;
  /** Without its provider, the company's mail or site does not work. */
  readonly isCritical?: true;
  /** Of a change; `low` by default. */
  readonly importance?: 'high' | 'medium';
  /** What the provider does, as the predicate of a sentence. */
  readonly claim: string;
}

const exclusive = { isExclusive: true, isCritical: true } as const;

/** First the main role of each category, in the order of `CATEGORIES`: that of a provider whose kinds name no other role. */
const TABLE = {
  dns: { label: 'DNS', category: 'dns', ...exclusive, importance: 'high', claim: 'serves the zone' },
  mailbox: { label: 'Mailboxes', category: 'email', ...exclusive, importance: 'high', claim: 'hosts the mailboxes' },
  gateway: {
    ...{ label: 'Mail gateway', category: 'email_security', kinds: ['mail-gateway'], ...exclusive },
    ...{ importance: 'medium', claim: 'filters the mail' },
  },
  sender: { label: 'Mail sending', category: 'email_sending', claim: 'is authorized to send mail for the domain' },
  origin: { label: 'Hosting', category: 'hosting', ...exclusive, importance: 'high', claim: 'runs the site' },
  edge: {
    ...{ label: 'CDN', category: 'cdn', ...exclusive, importance: 'medium' },
    claim: 'proxies requests to the site',
  },
  protection: {
    ...{ label: 'DDoS protection', category: 'security', kinds: ['ddos-protection'] },
    claim: 'filters requests to the site',
  },
  verified: {
    ...{ label: 'Verified account', category: 'verified_service' },
    claim: 'has verified the domain for an account at some time',
  },
  issuer: {
    ...{ label: 'Certificate authority', category: 'certificate_authority', importance: 'medium' },
    claim: 'issues the certificate',
  },
  platform: {
    ...{ label: 'Web software', category: 'web_platform', kinds: ['live-chat'] },
    claim: 'is part of the site',
  },
  forwarding: {
    ...{ label: 'Mail forwarding', category: 'email_security', kinds: ['mail-forwarding'], ...exclusive },
    ...{ importance: 'medium', claim: 'forwards the mail' },
  },
  dmarc_reports: {
    ...{ label: 'DMARC reporting', category: 'email_security', kinds: ['email-authentication'] },
    claim: "receives DMARC reports or hosts the domain's policies",
  },
  waf: {
    ...{ label: 'Web application firewall', category: 'security', kinds: ['waf'] },
    claim: 'filters requests to the site',
  },
  bot_protection: {
    ...{ label: 'Bot protection and CAPTCHA', category: 'security', kinds: ['bot-management'] },
    claim: 'distinguishes visitors from bots',
  },
  site_builder: {
    ...{ label: 'Site builder', category: 'web_platform', kinds: ['site-builder', 'landing-pages'] },
    claim: 'builds the site',
  },
  creator_platform: {
    ...{ label: 'Creator platform', category: 'web_platform', kinds: ['creator-platform'] },
    claim: 'publishes and sells for the site',
  },
  careers: {
    ...{ label: 'Careers', category: 'web_platform', kinds: ['recruiting', 'hr'] },
    claim: 'runs the careers pages',
  },
  help_centre: {
    ...{ label: 'Help centre', category: 'web_platform', kinds: ['help-desk'] },
    claim: 'runs the help centre, the documentation or the requests',
  },
  status_page: {
    ...{ label: 'Status page', category: 'web_platform', kinds: ['status-page'] },
    claim: 'runs the status page',
  },
  identity: {
    ...{ label: 'Identity', category: 'web_platform', kinds: ['identity', 'single-sign-on'] },
    claim: 'signs users in',
  },
} as const satisfies Record<string, RoleFacts>;

/** The role of a provider for a domain. */
export type Role = keyof typeof TABLE;
/** Never empty: the table is above. */
export const ROLE_LIST = Object.keys(TABLE) as readonly string[] as readonly [Role, ...Role[]];
export const ROLE_FACTS: Readonly<Record<Role, RoleFacts>> = TABLE;

/** The main role of each category. */
export const ROLES = {
  dns: 'dns',
  email: 'mailbox',
  email_security: 'gateway',
  email_sending: 'sender',
  hosting: 'origin',
  cdn: 'edge',
  security: 'protection',
  verified_service: 'verified',
  certificate_authority: 'issuer',
  web_platform: 'platform',
} as const satisfies Record<Category, Role>;
export type MainRole = (typeof ROLES)[Category];
export const MAIN_ROLES: readonly MainRole[] = Object.values(ROLES);
export const NO_ROLES: ReadonlySet<Role> = new Set();
export const EXCLUSIVE_ROLES: ReadonlySet<Role> = new Set(ROLE_LIST.filter((role) => ROLE_FACTS[role].isExclusive));

/** The roles of each category, the main one first. */
export const ROLES_OF: ReadonlyMap<Category, readonly Role[]> = Map.groupBy(
  ROLE_LIST,
  (role) => ROLE_FACTS[role].category,
);

/**
 * The role of a provider in a category: one, so that a new rule makes it another role and not another service. Undefined
 * for a provider that is not in the catalog.
 */
export type RoleOf = (category: Category, provider: string) => Role | undefined;

/** Without a catalog. */
export const mainRoleOf = (category: Category): Role => ROLES[category];

/** The role that a rule group of the category names, or the first of the provider's kinds that names one. */
export function roleIn(
  {
    kinds,
    rules,
  }: {
    readonly kinds: readonly Kind[];
    readonly rules: readonly { readonly category: Category; readonly role?: Role | undefined }[];
  },
  category: Category,
): Role {
  const roles = ROLES_OF.get(category) ?? [];
  if (roles.length === 1) return ROLES[category];
  const named = rules.find((group) => group.category === category && group.role !== undefined)?.role;
  if (named !== undefined) return named;
  for (const kind of kinds) {
    const role = roles.find((each) => ROLE_FACTS[each].kinds?.includes(kind));
    if (role !== undefined) return role;
  }
  return ROLES[category];
}

/** One value for each role, in the order of `ROLE_LIST`. */
export function byRole<T>(of: (role: Role) => T): Readonly<Record<Role, T>> {
  // Spelled out: building an object key by key takes ten times as long.
  return {
    ...byMainRole(of),
    forwarding: of('forwarding'),
    dmarc_reports: of('dmarc_reports'),
    waf: of('waf'),
    bot_protection: of('bot_protection'),
    site_builder: of('site_builder'),
    creator_platform: of('creator_platform'),
    careers: of('careers'),
    help_centre: of('help_centre'),
    status_page: of('status_page'),
    identity: of('identity'),
  };
}

/** One value for the main role of each category. */
export function byMainRole<T>(of: (role: MainRole) => T): Readonly<Record<MainRole, T>> {
  return {
    dns: of('dns'),
    mailbox: of('mailbox'),
    gateway: of('gateway'),
    sender: of('sender'),
    origin: of('origin'),
    edge: of('edge'),
    protection: of('protection'),
    verified: of('verified'),
    issuer: of('issuer'),
    platform: of('platform'),
  };
}
