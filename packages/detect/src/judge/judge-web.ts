// Decides where a site is hosted, behind an edge or protection. An address in front does not show the host behind it.

import type { Reading } from '../evidence/reading.ts';
import type { Finding } from '../match/finding.ts';
import { FORGED_STRENGTH } from '../match/strengths.ts';
import type { Category } from '../profile.ts';
import type { Channel } from '../rulebook/patterns.ts';

/** Evidence that requests pass through the provider, not only that an account exists. */
const ON_PATH: ReadonlySet<Channel> = new Set([
  ...(['cname', 'address', 'asn', 'range', 'private-header', 'common-header', 'cookie'] as const),
]);
/** Evidence of the owner of an address only. */
const BY_ADDRESS: ReadonlySet<Channel> = new Set(['asn', 'range']);

/** Whether an edge or a protection is in front of the host. */
export function isFronted(findings: readonly Finding[]): boolean {
  return findings.some(
    ({ rule, strength }) =>
      (rule.category === 'cdn' || rule.category === 'security') &&
      ON_PATH.has(rule.channel) &&
      strength > FORGED_STRENGTH,
  );
}

/** Categories at the web address: it is in the provider's network, or in that of a provider in front. */
const AT_ADDRESS: ReadonlySet<Category> = new Set(['cdn', 'security', 'hosting']);

/** A common header, which anyone may send, is probably forged if the address is not in its provider's network. */
export function judgeHeaders(findings: readonly Finding[], { evidence }: Reading): readonly Finding[] {
  if (!findings.some(isDoubtful)) return findings;
  const web = evidence.addresses.filter(({ use }) => use === 'web' || use === 'www');
  const isLocated = web.length > 0 && web.every(({ asn }) => asn !== null);
  const rest = findings.filter(({ rule }) => rule.channel !== 'common-header');
  if (!isLocated || isFronted(rest)) return findings;
  const supported = new Set(rest.map(({ rule }) => rule.service));
  return findings.map((finding) => {
    if (!isDoubtful(finding) || supported.has(finding.rule.service)) return finding;
    return { ...finding, strength: Math.min(finding.strength, FORGED_STRENGTH) };
  });
}

function isDoubtful({ rule }: Finding): boolean {
  return rule.channel === 'common-header' && rule.hasNetworks && AT_ADDRESS.has(rule.category);
}

/**
 * Drops hosting by address behind an edge, and where a name or header already identifies the host. Names and addresses
 * that several products of an owner share are less than a name and more than a network.
 */
export function judgeOrigin(findings: readonly Finding[], { failures }: Reading): readonly Finding[] {
  if (!findings.some((finding) => isOriginByAddress(finding) || isSharedOrigin(finding))) return findings;
  // The failed look-ups may have shown an edge or the host's own name.
  const isHidden = isFronted(findings) || failures.web || failures.aliases || failures.networks;
  const named = new Set(
    findings
      .filter(({ rule, strength }) => {
        return rule.role === 'origin' && !rule.isShared && !BY_ADDRESS.has(rule.channel) && strength > FORGED_STRENGTH;
      })
      .map(({ rule }) => rule.provider),
  );
  const shared = new Set(findings.filter(isSharedOrigin).map(({ rule }) => rule.provider));
  return findings.filter((finding) => {
    const { provider } = finding.rule;
    // A page that was not available may have named the product.
    if (isSharedOrigin(finding)) return !failures.web && (named.size === 0 || named.has(provider));
    if (!isOriginByAddress(finding)) return true;
    if (isHidden) return false;
    // Vercel runs on Amazon's network: the owner of the network is not the host.
    return named.size > 0 ? named.has(provider) : shared.size === 0 || shared.has(provider);
  });
}

function isSharedOrigin({ rule }: Finding): boolean {
  return rule.role === 'origin' && rule.isShared;
}

function isOriginByAddress({ rule }: Finding): boolean {
  return rule.role === 'origin' && BY_ADDRESS.has(rule.channel);
}

/** A certificate takes precedence over a CAA record. Without the certificate the CAA finding is undecided. */
export function judgeIssuer(
  findings: readonly Finding[],
  { hasOwnCertificate, failures }: Reading,
): readonly Finding[] {
  if (!hasOwnCertificate && !failures.tls) return findings;
  if (!findings.some(isPermission)) return findings;
  const shown = new Set(findings.filter(({ rule }) => rule.channel === 'tls').map(({ rule }) => rule.provider));
  return findings.filter((finding) => !isPermission(finding) || shown.has(finding.rule.provider));
}

/** A CAA record permits an issuer. */
function isPermission({ rule }: Finding): boolean {
  return rule.role === 'issuer' && rule.channel === 'caa';
}
