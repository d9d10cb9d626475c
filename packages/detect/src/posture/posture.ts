// The mail and transport posture of a domain, standard by standard, from one reading of its evidence, and its score.

import type { Lookup } from '../evidence/evidence.ts';
import type { Reading } from '../evidence/reading.ts';
import { cutText } from '../evidence/text.ts';
import { measurementOf } from '../judge/measure.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';
import { spfTargets } from '../spf/senders.ts';
import { caaPart } from './caa.ts';
import { dnssecPart } from './dnssec.ts';
import { bimiPart } from './mail/bimi.ts';
import { dkimPart } from './mail/dkim.ts';
import { type Dmarc, isSettled, readDmarc } from './mail/dmarc-policy.ts';
import { mtaStsPart, tlsRptPart } from './mail/mail-transport.ts';
import { type MailUse, mailUseOf } from './mail/mail-use.ts';
import type { Posture, PostureFactor } from './posture-type.ts';
import * as mail from './score/factors-mail.ts';
import * as web from './score/factors-web.ts';
import { type PostureParts, scoreOf, unmeasured } from './score/score.ts';
import { securityTxtPart } from './security-txt.ts';
import { tlsPart } from './tls.ts';
import { headersPart, hstsPart } from './web-headers.ts';

/** Records are stored up to this length; a valid SPF record that receivers accept is far shorter. */
const MAX_RECORD_LENGTH = 2048;
const MAX_SENDERS = 32;
const MAX_HOSTS = 16;

/** All standards of a domain, with score and grade. */
export function posture(reading: Reading, rulebook?: Rulebook): Posture {
  const { domain, dns, policies } = reading.evidence;
  // Receivers get wildcard answers too: a record that begins with the version of a policy counts, even from a wildcard.
  const dmarcPolicy = reading.dmarc === dns.dmarc ? reading.dmarcPolicy : readDmarc(domain, dns.dmarc, policies);
  const parts: PostureParts = {
    spf: spfPart(reading),
    dmarc: dmarcPart(dns.dmarc, dmarcPolicy),
    dkim: dkimPart(reading),
    dnssec: dnssecPart(reading),
    caa: caaPart(reading, rulebook),
    mtaSts: mtaStsPart(reading),
    tlsRpt: tlsRptPart(dns.tlsRpt),
    bimi: bimiPart(dns.bimi, dns.dmarc, dmarcPolicy),
    tls: tlsPart(reading),
    hsts: hstsPart(reading),
    headers: headersPart(reading),
    securityTxt: securityTxtPart(reading),
  };
  const { factors, score, grade, coverage, scoreVersion } = scoreOf(factorsOf(parts, reading));
  return { ...parts, factors, score, grade, coverage, scoreVersion };
}

/** A domain that takes no mail is judged on refusing to send any. A domain that does not exist has no factors. */
function factorsOf(parts: PostureParts, reading: Reading): PostureFactor[] {
  if (reading.existence !== 'exists') return [];
  return [...MAIL_FACTORS[mailUseOf(reading)](parts), ...webFactors(parts, reading)];
}

const MAIL_FACTORS: Readonly<Record<MailUse, (parts: PostureParts) => PostureFactor[]>> = {
  taken: (parts) => [
    mail.spfFactor(parts),
    mail.dmarcFactor(parts),
    mail.dkimFactor(parts),
    mail.dnssecFactor(parts),
    mail.caaFactor(parts),
    mail.mtaStsFactor(parts),
    mail.tlsRptFactor(parts),
    ...(parts.bimi.hasRecord ? [mail.bimiFactor(parts)] : []),
  ],
  none: (parts) => [
    mail.noMailSpfFactor(parts),
    mail.noMailDmarcFactor(parts),
    mail.dnssecFactor(parts),
    mail.caaFactor(parts),
  ],
  unknown: (parts) => [
    mail.anyMailSpfFactor(parts),
    mail.anyMailDmarcFactor(parts),
    mail.dkimFactor(parts),
    mail.dnssecFactor(parts),
    mail.caaFactor(parts),
    unmeasured('mta_sts', 10),
    unmeasured('tls_rpt', 5),
  ],
};

/** A domain that only redirects to another one has no page to protect and needs no security.txt. */
function webFactors(parts: PostureParts, { hasNoWeb, webAnswer }: Reading): PostureFactor[] {
  if (hasNoWeb && parts.tls.status !== 'observed') return [];
  const transport = [web.tlsFactor(parts), web.hstsFactor(parts)];
  if (webAnswer === 'redirect') return transport;
  return [...transport, web.headersFactor(parts), web.securityTxtFactor(parts)];
}

function spfPart({ evidence, spf }: Reading): Posture['spf'] {
  const isMeasured = measurementOf(evidence.dns.txt.status) !== 'unmeasured';
  return {
    status: !isMeasured ? 'unmeasured' : spf.record === null ? 'absent' : 'observed',
    record: spf.record === null ? null : cutText(spf.record, MAX_RECORD_LENGTH),
    all: spf.all,
    result: isMeasured ? spf.result : 'unmeasured',
    evaluation: isMeasured ? spf.evaluation : 'unmeasured',
    effectiveAll: spf.effectiveAll,
    isOpen: spf.isOpen,
    isPermitting: spf.isPermitting,
    lookups: spf.lookups,
    voids: spf.voids,
    authorizedIpv4: spf.authorizedIpv4,
    isDynamic: spf.isDynamic,
    problems: spf.problems,
    senders: spfTargets(spf)
      .filter(({ via }) => via !== 'a' && via !== 'mx')
      .slice(0, MAX_SENDERS)
      .map(({ host, depth }) => ({ host, depth })),
  };
}

function dmarcPart(lookup: Lookup<string>, dmarcPolicy: Dmarc): Posture['dmarc'] {
  const { organizationalDomain: _, reportHosts: __, isUnsettled: ___, ...shown } = dmarcPolicy;
  const { record, refusingHosts } = shown;
  const isUnmeasured = !isSettled(lookup, dmarcPolicy);
  return {
    status: isUnmeasured ? 'unmeasured' : record === null ? 'absent' : 'observed',
    ...shown,
    record: record === null ? null : cutText(record, MAX_RECORD_LENGTH),
    refusingHosts: refusingHosts.slice(0, MAX_HOSTS),
  };
}
