// The result of detection for a domain: services with their evidence, how well each role was measured, the posture.

import type { Measurement, Posture } from './posture/posture-type.ts';
import type { Category, MainRole, Role } from './roles.ts';
import type { SectorSource } from './sector/sector.ts';
import type { Sector } from './sector/sector-types.ts';

/**
 * `provider`: a known one. `self`: the domain's own name servers or mail exchanges, without a known network behind them.
 * `unknown`: there is a holder, but not a known one. `nobody`: there is nothing to hold. `unmeasured`: not known.
 */
export const HOLDERS = ['unmeasured', 'provider', 'self', 'unknown', 'nobody'] as const;

export type Holder = (typeof HOLDERS)[number];

/** The source of a piece of evidence. */
export const SOURCES = [
  'ns',
  'soa',
  'mx',
  'spf',
  'txt',
  'dmarc',
  'caa',
  'cname',
  'asn',
  'header',
  'cookie',
  'html',
  'tls',
] as const;
export type Source = (typeof SOURCES)[number];

export type ConfidenceLevel = 'high' | 'medium' | 'low';

export interface ServiceEvidence {
  readonly source: Source;
  /** The observed record, header or pattern value, at most 256 characters. */
  readonly value: string;
  /** Id of the rule that matched: `{provider}/{source}/{pattern}`. */
  readonly rule: string;
}

export interface Service {
  readonly category: Category;
  readonly role: Role;
  /** Provider id, `google-workspace`. */
  readonly provider: string;
  readonly confidence: ConfidenceLevel;
  /** 0–0.99; orders findings, not a probability. */
  readonly score: number;
  readonly evidence: readonly ServiceEvidence[];
  /** The version that the evidence shows, `1.18.0`, or null. */
  readonly version: string | null;
  /** The platform that it was packaged for, lower case, `ubuntu`; null without a version. */
  readonly platform: string | null;
}

/** `nonexistent`: NXDOMAIN. `unmeasured`: the apex could not be resolved at all. */
export type DomainState = 'active' | 'parked' | 'nonexistent' | 'unmeasured';

export interface Profile {
  readonly domain: string;
  readonly observedAt: string;
  /** Version of the rulebook that detected the profile. */
  readonly rulebook: string;
  readonly state: DomainState;
  /** Sorted by category order, then score descending, then provider. */
  readonly services: readonly Service[];
  /** How each source of evidence was measured in this probe. */
  readonly sources: Readonly<Record<Source, Measurement>>;
  /** How each role was measured: only `absent` can end a provider. */
  readonly roles: Readonly<Record<Role, Measurement>>;
  /** The holder of the main role of each category, for shares: see holders.ts. */
  readonly holders: Readonly<Record<MainRole, Holder>>;
  readonly sector: Sector;
  readonly sectorSource: SectorSource;
  /** Country of the network of the site's address, as its registry gives it: `DE`. Not that of the server. */
  readonly country: string | null;
  /** Registrable domain of another owner that the home page redirects to, or null. */
  readonly redirectsTo: string | null;
  readonly security: Posture;
}

export * from './posture/posture-type.ts';
export * from './roles.ts';
