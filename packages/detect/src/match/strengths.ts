// The strength of each kind of evidence, by channel and role; explained in docs/detection.md.

import { type Category, type ConfidenceLevel, type MainRole, ROLES } from '../profile.ts';
import type { Channel } from '../rulebook/patterns.ts';

/**
 * Part of the rulebook's version: raise it when a strength or a rule of judgement changes the result for old evidence, so
 * that the difference is a reclassification and never a migration.
 */
export const ENGINE_VERSION = 12;

/** Kinds of evidence that fail independently of each other; within one, only the strongest finding counts. */
export type Family = 'routing' | 'authorisation' | 'token' | 'transport' | 'network' | 'content';

export const FAMILY_OF = {
  ns: 'routing',
  soa: 'routing',
  mx: 'routing',
  cname: 'routing',
  named: 'routing',
  spf: 'authorisation',
  dkim: 'authorisation',
  dmarc: 'authorisation',
  caa: 'authorisation',
  txt: 'token',
  'txt-at': 'token',
  'private-header': 'transport',
  'common-header': 'transport',
  cookie: 'transport',
  tls: 'transport',
  address: 'network',
  asn: 'network',
  'mail-asn': 'network',
  'ns-asn': 'network',
  range: 'network',
  generator: 'content',
  asset: 'content',
  marker: 'content',
} as const satisfies Record<Channel, Family>;

interface Strength {
  readonly any: number;
  readonly roles?: Partial<Record<MainRole, number>>;
}

/**
 * For each channel, the probability that a claim is right which only this channel shows: set from the share in half of the
 * second world's companies, at most 0.98. The table in docs/detection.md; a test compares the two.
 */
export const STRENGTHS: Readonly<Record<Channel, Strength>> = {
  ns: { any: 0.98 },
  // A zone that moved often keeps the old RNAME; it counts only for vanity name servers.
  soa: { any: 0.9 },
  mx: { any: 0.98 },
  cname: { any: 0.95 },
  // Aliases, selectors and includes stay in a zone after their service was left. That an account was verified stays true.
  named: { any: 0.86, roles: { verified: 0.98 } },
  dkim: { any: 0.84 },
  // An include permits sending. For the mailbox it is a hint at most, see judge-mail.ts.
  spf: { any: 0.6, roles: { sender: 0.88, mailbox: 0.4, protection: 0.88 } },
  dmarc: { any: 0.98 },
  // A CAA record permits an authority; only the certificate shows the one in use.
  caa: { any: 0.4 },
  // A token proves that an account was verified once, which is all that `verified` asserts.
  txt: { any: 0.35, roles: { verified: 0.98 } },
  'txt-at': { any: 0.35, roles: { verified: 0.98 } },
  'private-header': { any: 0.98 },
  // Anyone may send it: below the vendor's own header, although as many of its claims are right.
  'common-header': { any: 0.97 },
  // A cookie shows the vendor, and not which of its products for protection.
  cookie: { any: 0.98, roles: { protection: 0.7 } },
  tls: { any: 0.3, roles: { issuer: 0.98 } },
  // Published by the provider for its customers to point to.
  address: { any: 0.98 },
  // The owner of a network is not always the product on it: below a name, although as many of its claims are right.
  asn: { any: 0.97 },
  // Not measured: an exchange or name server of the customer's own can be in a provider's network.
  'mail-asn': { any: 0.6 },
  'ns-asn': { any: 0.95 },
  // Published by a provider for its own product's addresses; in the address's family, so that a network adds nothing to
  // it.
  range: { any: 0.98 },
  generator: { any: 0.95 },
  asset: { any: 0.97 },
  marker: { any: 0.95 },
};

/** An exchange that receives mail only when the preferred ones fail: a backup or a leftover. */
export const BACKUP_MX_STRENGTH = 0.45;
/** A mailbox by one kind of client set-up or selector, with no gateway that could hide its exchange. */
export const LONE_SETUP_FACTOR = 0.5;
/** The same, if the policy includes the provider too: two records that may outlive it. */
export const PERMITTED_SETUP_FACTOR = 0.8;
/** The CNAME exists, its target does not, either not yet or no longer: no evidence alone, and little beside other. */
export const DANGLING_FACTOR = 0.1;
/** An expired certificate, or one without its intermediate: the issuer's name is likely but not proven. */
export const UNPROVEN_ISSUER_STRENGTH = 0.6;
/** A `Server` header of a provider whose network the site is not in. */
export const FORGED_STRENGTH = 0.3;

const MAX_SCORE = 0.99;
const HIGH = 0.95;
const MEDIUM = 0.5;

/** The strength is the same for all roles of a category: that of its main role. */
export function strengthOf(channel: Channel, category: Category): number {
  const { any, roles } = STRENGTHS[channel];
  return roles?.[ROLES[category]] ?? any;
}

const FAMILY_BIT: Readonly<Record<Family, number>> = {
  routing: 1,
  authorisation: 2,
  token: 4,
  transport: 8,
  network: 16,
  content: 32,
};

/**
 * 1 − Π(1 − s) over the strongest finding of each family, at most 0.99, rounded to three decimals. Findings are sorted
 * by strength, descending.
 */
export function combineStrengths(
  findings: readonly { readonly rule: { readonly family: Family }; readonly strength: number }[],
): number {
  let doubt = 1;
  let counted = 0;
  for (const { rule, strength } of findings) {
    const family = FAMILY_BIT[rule.family];
    if ((counted & family) !== 0) continue;
    counted |= family;
    doubt *= 1 - strength;
  }
  return Math.round(Math.min(MAX_SCORE, 1 - doubt) * 1000) / 1000;
}

export function levelOf(score: number): ConfidenceLevel {
  if (score >= HIGH) return 'high';
  return score >= MEDIUM ? 'medium' : 'low';
}
