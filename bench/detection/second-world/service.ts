// The services of the second world, as public documents describe them: who sells it, what for, and the records that a customer publishes.
import { readFileSync } from 'node:fs';
import type { Role } from '@strata/detect';
import { z } from 'zod';

/** The role under which detection has to report a service. Where the world is finer, several have one; where it is coarser, that is an error. */
export const ROLE_OF = {
  dns: 'dns',
  mailbox: 'mailbox',
  'mail-gateway': 'gateway',
  'mail-forwarding': 'forwarding',
  'dmarc-reporting': 'dmarc_reports',
  'email-sending': 'sender',
  cdn: 'edge',
  waf: 'waf',
  'bot-protection': 'bot_protection',
  'web-hosting': 'origin',
  cloud: 'origin',
  'site-builder': 'site_builder',
  commerce: 'platform',
  'creator-platform': 'creator_platform',
  careers: 'careers',
  'help-centre': 'help_centre',
  'status-page': 'status_page',
  identity: 'identity',
  cms: 'platform',
  'web-server': 'platform',
  analytics: 'platform',
  'tag-manager': 'platform',
  consent: 'platform',
  'certificate-authority': 'issuer',
  verified: 'verified',
  parking: 'dns',
} as const satisfies Readonly<Record<string, Role>>;
export type WorldRole = keyof typeof ROLE_OF;
// Exactly the keys: the object is above.
export const WORLD_ROLES = Object.keys(ROLE_OF) as readonly WorldRole[];

/** What a service does in addition if the site is at its address. */
const ROLE_AT_ADDRESS: Partial<Readonly<Record<WorldRole, Role>>> = {
  'site-builder': 'origin',
  commerce: 'origin',
  waf: 'edge',
};

/** Roles that the records of a service entail in addition to its own: true of its vendor, but the service is not found by them. */
export function entailedRoles({ role, records }: Pick<Service, 'role' | 'records'>): ReadonlySet<Role> {
  const publishes = (kinds: RegExp) => records.some((line) => kinds.test(line));
  const atAddress = publishes(/^(CNAME www|A) /) ? ROLE_AT_ADDRESS[role] : undefined;
  return new Set<Role>([
    ...(atAddress ? [atAddress] : []),
    // The policy names the vendor as one that may send.
    ...(publishes(/^SPF /) ? ['sender' as const] : []),
    // A token, or a name that the vendor serves: there is an account.
    ...(publishes(/^(TXT|NAME|CNAME) /) ? ['verified' as const] : []),
  ]);
}

/** Percent of a role's customers, where no published share was found. */
const PERCENT_OF_RANK = { large: 5, medium: 1.5, small: 0.5, tail: 0.15 } as const;

const Service = z
  .strictObject({
    role: z.enum(WORLD_ROLES),
    vendor: z.string(),
    website: z.string(),
    /** A published share of the role's customers, else `rank`. */
    percent: z.number().positive().optional(),
    rank: z.enum(['large', 'medium', 'small', 'tail']).optional(),
    /** Of `networks.json`: that of the vendor's own hosts. */
    network: z.string().default('other'),
    /** What a customer publishes; README.md describes the form. */
    records: z.array(z.string()),
    /** `vendor@category`: on whose service the vendor's is built; a claim of it in the main role is right. */
    also: z.array(z.string()).default([]),
    source: z.string(),
    shareSource: z.string().optional(),
    read: z.iso.date().optional(),
  })
  .transform(({ percent, rank, ...service }) => ({ ...service, weight: percent ?? PERCENT_OF_RANK[rank ?? 'tail'] }));
export type Service = z.infer<typeof Service>;

const Network = z.strictObject({
  id: z.string(),
  asn: z.number().int(),
  name: z.string(),
  prefix: z.cidrv4(),
  /** The vendor whose customers alone are there: then an address shows it. */
  owner: z.string().optional(),
});
export type Network = z.infer<typeof Network>;

const FILES = ['dns', 'mail', 'sending', 'edge', 'hosting', 'sites', 'page', 'verified'];

const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

export function loadServices(): readonly Service[] {
  const networks = loadNetworks();
  return FILES.flatMap((file) => z.array(Service).parse(read(`services/${file}.json`))).map((service) => ({
    ...service,
    also: [...service.also, ...belowSite(service, networks.get(service.network))],
  }));
}

const EDGE_NETWORKS = ['cloudflare', 'fastly', 'akamai'];

/** A site in the network of a cloud or an edge runs on it. */
function belowSite(
  { role, vendor }: Pick<Service, 'role' | 'vendor'>,
  network: Network | undefined,
): readonly string[] {
  const isSite = ['web-hosting', 'cloud', 'site-builder', 'commerce'].includes(role);
  if (!isSite || network?.owner === undefined || network.owner === vendor) return [];
  return [`${network.owner}@${EDGE_NETWORKS.includes(network.id) ? 'cdn' : 'hosting'}`];
}

export function loadNetworks(): ReadonlyMap<string, Network> {
  return new Map(
    z
      .array(Network)
      .parse(read('networks.json'))
      .map((network) => [network.id, network]),
  );
}
