// The services of the second world, as public documents describe them: who sells it, what for, and the records that a customer publishes.
import { readFileSync } from 'node:fs';
import type { Category } from '@strata/detect';
import { z } from 'zod';

/** Categories in which detection reports the holder of a role: those that find it, and those that are right as well. */
export const ROLES = {
  dns: { found: ['dns'], right: [] },
  mailbox: { found: ['email'], right: ['email_sending', 'verified_service'] },
  'mail-gateway': { found: ['email_security'], right: ['email_sending', 'verified_service'] },
  'mail-forwarding': { found: ['email_security'], right: ['email_sending', 'verified_service'] },
  'dmarc-reporting': { found: ['email_security'], right: ['verified_service'] },
  'email-sending': { found: ['email_sending'], right: ['verified_service', 'web_platform'] },
  cdn: { found: ['cdn'], right: ['security'] },
  waf: { found: ['security', 'cdn'], right: [] },
  'bot-protection': { found: ['security', 'web_platform'], right: [] },
  'web-hosting': { found: ['hosting'], right: ['web_platform'] },
  cloud: { found: ['hosting'], right: ['web_platform', 'cdn', 'verified_service'] },
  'site-builder': { found: ['hosting', 'web_platform'], right: ['verified_service'] },
  commerce: { found: ['web_platform', 'hosting'], right: ['verified_service'] },
  'creator-platform': { found: ['web_platform', 'hosting', 'verified_service'], right: [] },
  careers: { found: ['web_platform', 'hosting', 'verified_service'], right: [] },
  'help-centre': { found: ['web_platform', 'hosting', 'verified_service'], right: [] },
  'status-page': { found: ['web_platform', 'hosting', 'verified_service'], right: [] },
  identity: { found: ['web_platform', 'security', 'hosting', 'verified_service'], right: ['email_sending'] },
  cms: { found: ['web_platform'], right: [] },
  'web-server': { found: ['web_platform'], right: [] },
  analytics: { found: ['web_platform'], right: [] },
  'tag-manager': { found: ['web_platform'], right: [] },
  consent: { found: ['web_platform'], right: [] },
  'certificate-authority': { found: ['certificate_authority'], right: [] },
  verified: { found: ['verified_service'], right: [] },
  parking: { found: ['dns'], right: [] },
} as const satisfies Readonly<Record<string, { found: readonly Category[]; right: readonly Category[] }>>;
export type WorldRole = keyof typeof ROLES;
export const WORLD_ROLES = Object.keys(ROLES) as readonly WorldRole[];

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
    /** `vendor@category`: on whose service the vendor's is built; a claim of it is right. */
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
