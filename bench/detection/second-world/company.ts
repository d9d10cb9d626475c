// Draws companies: which services each uses now, which left records behind, and what hides them.
import { type Random, randomFor } from '@strata/testnet';
import type { Service, WorldRole } from './service.ts';

export interface Use {
  readonly service: Service;
  /** False for a service that the company left, and whose `lines` were not removed. */
  readonly isCurrent: boolean;
  /** Those of the service's records that are published. */
  readonly lines: readonly string[];
}

/** What hides providers in reality. */
export interface Quirks {
  /** `www` goes through another name of the company's, or through a traffic manager that knows two CDNs. */
  readonly alias: 'direct' | 'chained' | 'by-region' | 'flattened';
  /** Names of the inside answer with private addresses. */
  readonly isSplitHorizon: boolean;
  readonly wildcard: 'none' | 'address' | 'alias' | 'text';
  /** Name servers and exchanges with names of the company's. */
  readonly serverNames: 'usual' | 'vanity' | 'vanity-soa';
  readonly exchangeNames: 'usual' | 'vanity';
  readonly reseller: string | null;
  readonly policy: 'usual' | 'nested' | 'flattened' | 'none';
  readonly typo: 'none' | 'spf' | 'mx' | 'alias' | 'token';
  /** Nothing answers at the site's address. */
  readonly isDown: boolean;
}

export interface Company {
  readonly domain: string;
  readonly state: 'active' | 'parked' | 'dead' | 'broken';
  /** Edges first, then the site's host: the first of two `server` headers is the one that is sent. */
  readonly uses: readonly Use[];
  readonly quirks: Quirks;
}

const SUFFIXES = [
  'com',
  'com',
  'com',
  'com',
  'com',
  'net',
  'org',
  'io',
  'de',
  'co.uk',
  'fr',
  'nl',
  'com.au',
  'it',
  'ai',
];
const SYLLABLES =
  'al ber cor dan el far gil hol in jor kel lam mar nor ol per quin ros sel tor ul ver wes yar zen'.split(' ');
const ENDINGS = 'tech works group labs foods bank media care logistics tools energy travel studio systems'.split(' ');
/** Resellers under their own brand: invented. */
const RESELLERS = ['brightpath-hosting.net', 'clientdns.org', 'ownbrand-servers.com'];
const PAAS = /^HEADER server:|^CNAME www/m;

export function domainAt(number: number, seed: string): string {
  const random = randomFor(seed, 'name', number);
  const stem = Array.from({ length: 3 }, () => random.pick(SYLLABLES)).join('');
  return `${stem}${random.chance(0.5) ? random.pick(ENDINGS) : number}.${random.pick(SUFFIXES)}`;
}

export type ByRole = ReadonlyMap<WorldRole, readonly Service[]>;

export function drawCompany(domain: string, services: ByRole, seed: string): Company {
  const random = randomFor(seed, domain, 'company');
  const fate = random.next();
  const state = fate < 0.03 ? 'dead' : fate < 0.045 ? 'broken' : fate < 0.085 ? 'parked' : 'active';
  const one = (role: WorldRole, where: (service: Service) => boolean = () => true) =>
    random.weighted((services.get(role) ?? []).filter(where));
  const quirks = drawQuirks(random, state === 'active');
  const current = (service: Service): Use => ({ service, isCurrent: true, lines: service.records });
  if (state === 'parked') return { domain, state, uses: [current(one('parking'))], quirks };
  if (state !== 'active') return { domain, state, uses: [], quirks };
  const deps = { random, one };
  const mail = drawMail(deps, quirks);
  const chosen = [
    ...drawSite(deps, quirks),
    ...(quirks.reseller !== null || random.chance(0.05) ? [] : [one('dns')]),
    ...mail,
    ...drawRest(deps),
  ];
  if (random.chance(0.03)) chosen.push(one('dns'));
  const unique = [...new Map(chosen.map((service) => [`${service.role} ${service.vendor}`, service])).values()];
  const uses = unique.map(current);
  return { domain, state, uses: [...uses, ...drawStale(deps, unique)], quirks };
}

function drawQuirks(random: Random, isActive: boolean): Quirks {
  const of = <T extends string, U extends string>(shares: Readonly<Record<T, number>>, usual: U): T | U => {
    let rest = random.next();
    for (const [name, share] of Object.entries(shares) as [T, number][]) {
      rest -= share;
      if (rest < 0) return name;
    }
    return usual;
  };
  return {
    alias: of({ chained: 0.15, 'by-region': 0.03, flattened: 0.15 }, 'direct'),
    isSplitHorizon: random.chance(0.04),
    wildcard: of({ address: 0.03, alias: 0.02, text: 0.01 }, 'none'),
    serverNames: of({ vanity: 0.03, 'vanity-soa': 0.02 }, 'usual'),
    exchangeNames: of({ vanity: 0.04 }, 'usual'),
    reseller: isActive && random.chance(0.03) ? random.pick(RESELLERS) : null,
    policy: of({ nested: 0.04, flattened: 0.06, none: 0.12 }, 'usual'),
    typo: of({ spf: 0.01, mx: 0.005, alias: 0.005, token: 0.01 }, 'none'),
    isDown: random.chance(0.03),
  };
}

interface Draw {
  readonly random: Random;
  /** A service of the role, by its share of the customers. */
  readonly one: (role: WorldRole, where?: (service: Service) => boolean) => Service;
}

function drawMail({ random, one }: Draw, { reseller }: Quirks): Service[] {
  if (reseller !== null)
    return random.chance(0.5) ? [one('email-sending', ({ vendor }) => vendor === 'Twilio SendGrid')] : [];
  const kind = random.next();
  // No mail, and mail on the company's own servers.
  if (kind < 0.1) return [];
  if (kind < 0.14) return [one('mail-forwarding')];
  const isOwn = kind < 0.26;
  const mailbox = isOwn ? [] : [one('mailbox')];
  // Half-migrated: two providers receive mail.
  if (!isOwn && random.chance(0.03)) mailbox.push(one('mailbox'));
  const canHaveGateway = isOwn || ['Microsoft 365', 'Google Workspace'].includes(mailbox[0]?.vendor ?? '');
  const gateway = canHaveGateway && random.chance(0.16) ? [one('mail-gateway')] : [];
  const senders = Array.from({ length: random.pick([0, 0, 1, 1, 1, 2, 2, 3, 4]) }, () => one('email-sending'));
  const reports = random.chance(0.28) ? [one('dmarc-reporting')] : [];
  return [...gateway, ...mailbox, ...senders, ...reports];
}

function drawSite({ random, one }: Draw, { alias }: Quirks): Service[] {
  const kind = random.next();
  const isBuilt = kind < 0.22;
  if (isBuilt) return [one('site-builder')];
  const isHostedShop = ({ records }: Service) => records.some((line) => /^CNAME www|^A /.test(line));
  if (kind < 0.29) return [one('commerce', isHostedShop)];
  const host = kind > 0.94 ? [] : [one(kind < 0.65 ? 'web-hosting' : 'cloud')];
  const isPlatform =
    host[0]?.role === 'cloud' && PAAS.test(host[0].records.join('\n')) && host[0].vendor !== 'Amazon Web Services';
  const front = isPlatform ? [] : random.chance(0.38) ? [one('cdn')] : random.chance(0.08) ? [one('waf')] : [];
  if (front[0]?.role === 'cdn' && alias === 'by-region') front.push(one('cdn'));
  const isStatic = ({ vendor }: Service) =>
    ['Next.js', 'Nuxt', 'Gatsby', 'Astro', 'Hugo', 'Jekyll', 'Docusaurus'].includes(vendor);
  const software = random.chance(0.68) ? [one('cms', (service) => isStatic(service) === isPlatform)] : [];
  const isShop = !isPlatform && software[0]?.vendor === 'WordPress' && random.chance(0.15);
  const shop = isShop ? [one('commerce', ({ vendor }) => vendor === 'WooCommerce')] : [];
  const server = isPlatform ? [] : [one('web-server', ({ vendor }) => vendor !== 'PHP')];
  return [...front, ...host, ...server, ...software, ...shop];
}

const OPTIONAL: readonly (readonly [WorldRole, number])[] = [
  ['analytics', 0.65],
  ['analytics', 0.3],
  ['analytics', 0.15],
  ['tag-manager', 0.45],
  ['consent', 0.25],
  ['bot-protection', 0.12],
  ['careers', 0.08],
  ['help-centre', 0.18],
  ['status-page', 0.07],
  ['identity', 0.06],
  ['creator-platform', 0.04],
];

function drawRest({ random, one }: Draw): Service[] {
  const drawn = OPTIONAL.flatMap(([role, share]) => (random.chance(share) ? [one(role)] : []));
  const tokens = Array.from({ length: random.pick([0, 1, 1, 2, 2, 3, 4, 6, 8]) }, () => one('verified'));
  return [...drawn, ...tokens, one('certificate-authority')];
}

/** Records of churn: tokens, SPF includes, DKIM keys, and aliases without a target. */
function drawStale({ random, one }: Draw, current: readonly Service[]): Use[] {
  const former = [
    ...(random.chance(0.2) ? [one('mailbox')] : []),
    ...(random.chance(0.25) ? [one('email-sending')] : []),
    ...(random.chance(0.06) ? [one('help-centre')] : []),
    ...(random.chance(0.03) ? [one('status-page')] : []),
    ...(random.chance(0.3) ? [one('verified')] : []),
    ...(random.chance(0.1) ? [one('verified')] : []),
  ].filter(({ vendor }) => !current.some((service) => service.vendor === vendor));
  return former.flatMap((service): Use[] => {
    const left = service.records.filter((line) => /^(TXT|SPF|NAME|CNAME \S*_domainkey|CNAME autodiscover)/.test(line));
    const lines = left.filter(() => random.chance(0.6));
    return left.length === 0 ? [] : [{ service, isCurrent: false, lines: lines.length > 0 ? lines : left.slice(0, 1) }];
  });
}
