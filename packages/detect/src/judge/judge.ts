// Interprets the findings together, role by role, by kind of evidence and never by provider.

import type { Reading } from '../evidence/reading.ts';
import type { Finding, Judgement } from '../match/finding.ts';
import { NO_ROLES, ROLE_LIST } from '../profile.ts';
import type { Channel } from '../rulebook/patterns.ts';
import { judgeMail } from './judge-mail.ts';
import { judgeHeaders, judgeIssuer, judgeOrigin } from './judge-web.ts';

/** Records of a parking provider; a page or a header may only mention one. */
const PROVES_PARKING: ReadonlySet<Channel> = new Set(['ns', 'soa', 'mx', 'cname', 'named']);

/** Drops and reassigns findings until each shows only what it proves. */
export function judge(findings: readonly Finding[], reading: Reading): Judgement {
  if (isParked(findings, reading)) {
    return { isParked: true, findings: judgeNameServers(findings.filter(servesNames), reading), unsettled: NO_ROLES };
  }
  if (mayBeParked(findings, reading)) {
    // A failed look-up leaves open whether the domain is in use: only its name servers are known.
    const names = judgeNameServers(findings.filter(servesNames), reading);
    return { isParked: false, findings: names, unsettled: new Set(ROLE_LIST.filter((role) => role !== 'dns')) };
  }
  const live = findings.some(isOfParking) ? findings.filter((finding) => !isOfParking(finding)) : findings;
  const mail = judgeMail(judgeNameServers(live, reading), reading);
  const web = judgeIssuer(judgeOrigin(judgeHeaders(mail.findings, reading), reading), reading);
  return { isParked: false, findings: web, unsettled: mail.unsettled };
}

/**
 * A rule group of a parking provider may have several channels: its exchange shows parking and does not serve names.
 */
function servesNames({ rule }: Finding): boolean {
  return rule.role === 'dns' && (rule.channel === 'ns' || rule.channel === 'soa');
}

/** Parking that only the web shows counts unless a known provider receives the domain's mail. */
function isParked(findings: readonly Finding[], { isForSale, failures }: Reading): boolean {
  if (findings.some(({ rule }) => rule.isParking && PROVES_PARKING.has(rule.channel))) return true;
  return (isForSale || findings.some(isOfParking)) && !failures.mx && !receivesMail(findings);
}

/** The web shows parking, and the look-up of the mail exchanges failed. */
function mayBeParked(findings: readonly Finding[], { isForSale, failures }: Reading): boolean {
  return failures.mx && (isForSale || findings.some(isOfParking));
}

function isOfParking({ rule }: Finding): boolean {
  return rule.isParking;
}

function receivesMail(findings: readonly Finding[]): boolean {
  return findings.some(({ rule, isPreferred }) => isPreferred && !rule.isParking);
}

function isOfSoa({ rule }: Finding): boolean {
  return rule.channel === 'soa' && rule.role === 'dns';
}

/** An SOA counts for vanity name servers only: if the NS names a provider, another one in the SOA is a leftover. */
function judgeNameServers(findings: readonly Finding[], { failures }: Reading): readonly Finding[] {
  if (!findings.some(isOfSoa)) return findings;
  const serving = new Set<string>();
  for (const { rule } of findings) if (rule.channel === 'ns') serving.add(rule.provider);
  return findings.filter(
    (finding) => !isOfSoa(finding) || (serving.size === 0 ? !failures.ns : serving.has(finding.rule.provider)),
  );
}
