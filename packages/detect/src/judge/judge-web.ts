// Where a site lives, behind whatever stands in front of it. An address in front says nothing of the host behind.

import type { Reading } from '../evidence/reading.ts';
import type { Finding } from '../match/finding.ts';
import { FORGED_STRENGTH } from '../match/strengths.ts';
import type { Role } from '../profile.ts';
import type { Channel } from '../rulebook/patterns.ts';

/** Evidence that requests pass through, not merely that an account exists. */
const ON_PATH: ReadonlySet<Channel> = new Set(['cname', 'asn', 'range', 'private-header', 'common-header', 'cookie']);
/** Evidence of an address alone. */
const BY_ADDRESS: ReadonlySet<Channel> = new Set(['asn', 'range']);

/** Whether an edge or a protection stands before the host. */
export function isFronted(findings: readonly Finding[]): boolean {
  return findings.some(
    ({ rule, strength }) =>
      (rule.role === 'edge' || rule.role === 'protection') && ON_PATH.has(rule.channel) && strength > FORGED_STRENGTH,
  );
}

/** Roles that stand at the web address: their provider's network is there, or something before it. */
const AT_ADDRESS: ReadonlySet<Role> = new Set(['edge', 'protection', 'origin']);

/** A header that anybody may send, against an address in a network that is not its provider's, is likely somebody's joke. */
export function judgeHeaders(findings: readonly Finding[], { evidence }: Reading): readonly Finding[] {
  if (!findings.some(isDoubtful)) return findings;
  const web = evidence.addresses.filter(({ use }) => use === 'web' || use === 'www');
  const isLocated = web.length > 0 && web.every(({ asn }) => asn !== null);
  const others = findings.filter(({ rule }) => rule.channel !== 'common-header');
  if (!isLocated || isFronted(others)) return findings;
  const borneOut = new Set(others.map(({ rule }) => rule.service));
  return findings.map((finding) => {
    if (!isDoubtful(finding) || borneOut.has(finding.rule.service)) return finding;
    return { ...finding, strength: Math.min(finding.strength, FORGED_STRENGTH) };
  });
}

function isDoubtful({ rule }: Finding): boolean {
  return rule.channel === 'common-header' && rule.hasNetworks && AT_ADDRESS.has(rule.role);
}

/** Hosting by address falls away behind an edge, and where a name or header already says whose it is. */
export function judgeOrigin(findings: readonly Finding[], { failures }: Reading): readonly Finding[] {
  if (!findings.some(isOriginByAddress)) return findings;
  // An edge or a host's own name may stand in what was not seen.
  const isHidden = isFronted(findings) || failures.web || failures.aliases || failures.networks;
  const named = new Set(
    findings
      .filter(({ rule, strength }) => {
        return rule.role === 'origin' && !BY_ADDRESS.has(rule.channel) && strength > FORGED_STRENGTH;
      })
      .map(({ rule }) => rule.provider),
  );
  return findings.filter((finding) => {
    if (!isOriginByAddress(finding)) return true;
    if (isHidden) return false;
    // Vercel runs on Amazon's network: the network's owner is not the host.
    return named.size === 0 || named.has(finding.rule.provider);
  });
}

function isOriginByAddress({ rule }: Finding): boolean {
  return rule.role === 'origin' && BY_ADDRESS.has(rule.channel);
}

/** What a certificate shows beats what a CAA record permits, and one that could not be had might. */
export function judgeIssuer(
  findings: readonly Finding[],
  { hasOwnCertificate, failures }: Reading,
): readonly Finding[] {
  if (!hasOwnCertificate && !failures.tls) return findings;
  if (!findings.some(isPermission)) return findings;
  const shown = new Set(findings.filter(({ rule }) => rule.channel === 'tls').map(({ rule }) => rule.provider));
  return findings.filter((finding) => !isPermission(finding) || shown.has(finding.rule.provider));
}

/** What a CAA record says of an issuer. */
function isPermission({ rule }: Finding): boolean {
  return rule.role === 'issuer' && rule.channel === 'caa';
}
