// What detection says about a domain: services with their reasons, how well each role was measured, the posture.

import type { Holder } from './holders.ts';
import type { Sector, SectorSource } from './sector.ts';

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

/**
 * The part a provider plays. A role of `EXCLUSIVE_ROLES` has one holder at a time, so a change of holder is a
 * migration; the others are sets.
 */
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
} as const satisfies Record<Category, string>;
export type Role = (typeof ROLES)[Category];
export const EXCLUSIVE_ROLES: ReadonlySet<Role> = new Set<Role>(['dns', 'mailbox', 'gateway', 'origin', 'edge']);

/** Where a piece of evidence was read. */
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

/** `absent`: looked and not there. `unmeasured`: the look-up failed. `blocked`: something kept us out. */
export type Measurement = 'observed' | 'absent' | 'unmeasured' | 'blocked';

export type ConfidenceLevel = 'high' | 'medium' | 'low';

export interface ServiceEvidence {
  readonly source: Source;
  /** The record, header or pattern value that was seen, at most 256 characters. */
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
  /** 0–0.99; orders findings, is no probability. */
  readonly score: number;
  readonly evidence: readonly ServiceEvidence[];
  /** The version that the evidence shows, `1.18.0`, or null. */
  readonly version: string | null;
  /** What it was made for, lower case, `ubuntu`; null without a version. */
  readonly platform: string | null;
}

/** `nonexistent`: NXDOMAIN. `unmeasured`: the apex could not be resolved at all. */
export type DomainState = 'active' | 'parked' | 'nonexistent' | 'unmeasured';

export interface Profile {
  readonly domain: string;
  readonly observedAt: string;
  /** Version of the rulebook that read the evidence. */
  readonly rulebook: string;
  readonly state: DomainState;
  /** Sorted by category order, then score descending, then provider. */
  readonly services: readonly Service[];
  /** How each source of evidence was measured in this probe. */
  readonly sources: Readonly<Record<Source, Measurement>>;
  /** How each role was measured: only `absent` can end a provider. */
  readonly roles: Readonly<Record<Role, Measurement>>;
  /** Who holds each role, for shares: see holders.ts. */
  readonly holders: Readonly<Record<Role, Holder>>;
  readonly sector: Sector;
  readonly sectorSource: SectorSource;
  /** Registrable domain of another owner that the home page redirects to, or null. */
  readonly redirectsTo: string | null;
  readonly security: Posture;
}

export type Finding = 'pass' | 'partial' | 'fail' | 'unmeasured';

/** One factor of the score: `points` of `possible`; an unmeasured factor leaves the denominator. */
export interface PostureFactor {
  readonly factor: 'spf' | 'dmarc' | 'dnssec' | 'caa' | 'mta_sts' | 'tls_rpt' | 'tls';
  readonly finding: Finding;
  readonly points: number;
  readonly possible: number;
}

export interface Posture {
  readonly spf: {
    readonly status: Measurement;
    readonly record: string | null;
    readonly all: '-all' | '~all' | '?all' | '+all' | null;
    /** `none`: no record; `permerror`: more than one record or bad syntax. */
    readonly result: 'valid' | 'none' | 'permerror' | 'unmeasured';
  };
  readonly dmarc: {
    readonly status: Measurement;
    readonly record: string | null;
    readonly policy: 'none' | 'quarantine' | 'reject' | null;
    /** After `t=y` lowers it one step (RFC 9989). */
    readonly effectivePolicy: 'none' | 'quarantine' | 'reject' | null;
    readonly subdomainPolicy: 'none' | 'quarantine' | 'reject' | null;
    readonly hasReporting: boolean;
  };
  /** Selectors seen with a key. Reported, never scored: selectors cannot be enumerated. */
  readonly dkim: { readonly status: Measurement; readonly selectors: readonly string[] };
  readonly dnssec: { readonly status: Measurement; readonly isSigned: boolean | null };
  readonly caa: { readonly status: Measurement; readonly issuers: readonly string[] };
  readonly mtaSts: { readonly status: Measurement; readonly hasRecord: boolean | null };
  readonly tlsRpt: { readonly status: Measurement; readonly hasRecord: boolean | null };
  readonly bimi: { readonly status: Measurement; readonly hasRecord: boolean | null };
  readonly tls: {
    readonly status: Measurement;
    readonly protocol: string | null;
    readonly isTrusted: boolean | null;
    readonly problem: string | null;
    readonly validTo: string | null;
  };
  readonly factors: readonly PostureFactor[];
  /** 0–100, or null when less than 60 % of the points could be measured. */
  readonly score: number | null;
  readonly grade: 'A+' | 'A' | 'B' | 'C' | 'D' | 'F' | null;
  readonly coverage: number;
  readonly scoreVersion: string;
}
