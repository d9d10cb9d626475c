// CAA (RFC 8659): which authorities may issue for the domain, and whether the certificate's issuer is among them.

import type { Reading } from '../evidence/reading.ts';
import { cutText } from '../evidence/text.ts';
import { measurementOf } from '../judge/measure.ts';
import { caaIssuer } from '../match/match-dns.ts';
import type { Posture } from '../profile.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';
import { UNMEASURED } from './unmeasured.ts';

const MAX_ISSUERS = 32;
const ISSUE = /^issue(?:wild)?$/i;
/** Properties that authorities know (RFC 8659, RFC 9495, CA/B Forum contacts; RFC 8657 has parameters only). */
const KNOWN_TAG = /^(?:issue|issuewild|iodef|issuemail|issuevmc|contactemail|contactphone)$/i;

/** The rulebook maps authorities to names; without it `permitsIssuer` is null. */
export function caaPart(reading: Reading, rulebook?: Rulebook): Posture['caa'] {
  const { caa } = reading.evidence.dns;
  if (caa.records.length === 0) return { ...UNMEASURED.caa, status: measurementOf(caa.status) };
  const named = (tag: RegExp) =>
    caa.records.filter((record) => tag.test(record.tag)).map(({ value }) => cutText(caaIssuer(value), 253));
  const listOf = (hosts: readonly string[]) =>
    [...new Set(hosts.filter((host) => host !== ''))].sort().slice(0, MAX_ISSUERS);
  const issuers = listOf(named(ISSUE));
  return {
    status: measurementOf(caa.status),
    issuers,
    wildcardIssuers: listOf(named(/^issuewild$/i)),
    // §4.3: issuewild alone does not restrict other certificates.
    isRestricted: caa.records.some(({ tag }) => /^issue$/i.test(tag)),
    hasIncidentContact: caa.records.some(({ tag }) => /^iodef$/i.test(tag)),
    unknownCritical: listOf(
      caa.records.filter(({ critical, tag }) => critical && !KNOWN_TAG.test(tag)).map(({ tag }) => cutText(tag, 32)),
    ),
    permitsIssuer: rulebook ? permitsIssuer(reading, issuers, rulebook) : null,
  };
}

/** Null if the rulebook does not know the certificate's issuer or one of the names in CAA. */
function permitsIssuer(
  { evidence, hasOwnCertificate }: Reading,
  issuers: readonly string[],
  { matchers }: Rulebook,
): boolean | null {
  const { issuer, isTrusted } = evidence.tls;
  if (!hasOwnCertificate || !isTrusted || issuer === null || issuers.length === 0) return null;
  const makers = new Set(
    matchers.prefixes.tls.findWordAt(issuer.slice(0, 128).toLowerCase()).map(({ provider }) => provider),
  );
  if (makers.size === 0) return null;
  const permitted = issuers.map((host) => matchers.hosts.caa.find(host).map(({ provider }) => provider));
  if (permitted.some((providers) => providers.some((provider) => makers.has(provider)))) return true;
  return permitted.some((providers) => providers.length === 0) ? null : false;
}
