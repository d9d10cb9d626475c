// How well each source and role was measured. Only `absent` can end a provider, so every doubt is `unmeasured`.
import { type Evidence, isFailed, isMeasured, type LookupStatus } from '../evidence/evidence.ts';
import type { NamedAnswer, Reading } from '../evidence/reading.ts';
import type { Finding } from '../match/finding.ts';
import type { Measurement } from '../posture/posture-type.ts';
import { byRole, type Role, type Service, SOURCES, type Source } from '../profile.ts';
import { isDkimLabel } from '../rulebook/patterns.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';
import { spfNamesToQuery } from '../spf/reach.ts';
import { isFronted } from './judge-web.ts';

type SourceMeasurements = Readonly<Record<Source, Measurement>>;

/** The measurement of a DNS look-up's outcome. */
export function measurementOf(status: LookupStatus): Measurement {
  if (status === 'found') return 'observed';
  return isMeasured(status) ? 'absent' : 'unmeasured';
}

/**
 * Per source: `observed` or `absent` only if every look-up that it depends on was answered. If one failed the source is
 * `unmeasured`, even if other look-ups found something: those findings are in the services anyway.
 */
export function measureSources(reading: Reading, rulebook: Rulebook): SourceMeasurements {
  if (reading.existence === 'nonexistent') return everySource('absent');
  const { dns } = reading.evidence;
  const txt = measurementOf(dns.txt.status);
  return {
    ns: measurementOf(dns.ns.status),
    soa: measurementOf(dns.soa.status),
    mx: measurementOf(dns.mx.status),
    spf: measureSpf(reading, txt),
    txt,
    dmarc: measurePolicies(reading),
    caa: measurementOf(dns.caa.status),
    cname: measureAliases(reading, rulebook),
    asn: measureNetworks(reading),
    ...measureWeb(reading),
    tls: measureTls(reading),
  };
}

/**
 * Per role: `observed` if it has a holder, `blocked` if something hides the holder (a gateway before the mailbox, an edge
 * before the host), `absent` if every source that could have shown a holder was measured.
 */
export function measureRoles(
  reading: Reading,
  rulebook: Rulebook,
  results: {
    sources: SourceMeasurements;
    services: readonly Service[];
    findings: readonly Finding[];
    unsettled: ReadonlySet<Role>;
  },
): Readonly<Record<Role, Measurement>> {
  const isHeld = (role: Role) => results.services.some((service) => service.role === role);
  const isGated = results.findings.some(({ rule, isPreferred }) => rule.category === 'email_security' && isPreferred);
  const isHidden = isFronted(results.findings);
  return byRole((role) => {
    if (results.unsettled.has(role)) return 'unmeasured';
    if (isHeld(role)) return 'observed';
    if (reading.existence !== 'exists') return reading.existence === 'nonexistent' ? 'absent' : 'unmeasured';
    if (role === 'mailbox' && reading.mail === 'none') return 'absent';
    if ((role === 'mailbox' && isGated) || (role === 'origin' && isHidden)) return 'blocked';
    return measureBySources(rulebook.sourcesOf.get(role) ?? NO_SOURCES, results.sources);
  });
}

const NO_SOURCES: ReadonlySet<Source> = new Set();

function measureBySources(needed: ReadonlySet<Source>, sources: SourceMeasurements): Measurement {
  let isBlocked = false;
  for (const source of needed) {
    if (sources[source] === 'unmeasured') return 'unmeasured';
    if (sources[source] === 'blocked') isBlocked = true;
  }
  return isBlocked ? 'blocked' : 'absent';
}

function everySource(measurement: Measurement): SourceMeasurements {
  return Object.fromEntries(SOURCES.map((source) => [source, measurement])) as Record<Source, Measurement>;
}

/** A policy that the record references and that was not available, or not requested, may name a sender. */
function measureSpf({ spf, evidence }: Reading, txt: Measurement): Measurement {
  if (txt === 'observed' && spf.record === null) return 'absent';
  // Evidence of earlier probes has no policies; a policy that was read to its end has no gap.
  if (!evidence.policies || spf.evaluation === 'valid') return txt;
  const policies = evidence.policies.spf;
  const isComplete = spfNamesToQuery(evidence.dns.txt.records, policies).length === 0;
  return isComplete && Object.values(policies).every(({ status }) => isMeasured(status)) ? txt : 'unmeasured';
}

/** An alias of any name of a mail policy may show who keeps it. Not all of them are in evidence of earlier probes. */
function measurePolicies({ evidence: { dns }, dmarc, hostedPolicies }: Reading): Measurement {
  if (![dns.mtaSts, dns.tlsRpt, dns.bimi].every(({ status }) => isMeasured(status))) return 'unmeasured';
  return isMeasured(dmarc.status) && hostedPolicies.length > 0 ? 'observed' : measurementOf(dmarc.status);
}

/** Apex, www and every label of the rulebook: one failed or missing look-up makes absence unknown. */
function measureAliases({ evidence, named }: Reading, { probeLabels }: Rulebook): Measurement {
  const { a, aaaa, www, named: asked } = evidence.dns;
  if (!isMeasured(a.status) || !isMeasured(www.status) || isFailed(aaaa.status)) return 'unmeasured';
  // Evidence of another rulebook may have labels that this rulebook does not request.
  const ofRulebook = named.filter(({ label }) => probeLabels.includes(label));
  const isComplete = ofRulebook.every(({ lookup }) => isMeasured(lookup.status)) && hasEvery(asked, probeLabels);
  if (!isComplete) return 'unmeasured';
  const hasAlias = a.aliases.length > 0 || aaaa.aliases.length > 0 || www.aliases.length > 0;
  const isShown = ({ label, lookup }: NamedAnswer) =>
    lookup.aliases.length > 0 || (isDkimLabel(label) && lookup.records.length > 0);
  return hasAlias || ofRulebook.some(isShown) ? 'observed' : 'absent';
}

/** Probes query in the rulebook's order, so that one pass over both lists nearly always decides. */
function hasEvery(asked: Evidence['dns']['named'], labels: readonly string[]): boolean {
  let found = 0;
  for (const label in asked) if (label === labels[found] && asked[label]) found++;
  return found === labels.length || labels.every((label) => Object.hasOwn(asked, label) && asked[label]);
}

/** A host whose address look-up failed is among the addresses, with the status of that look-up. */
function measureNetworks({ evidence, hasNoWeb }: Reading): Measurement {
  const { dns, addresses } = evidence;
  if (addresses.some(({ status }) => !isMeasured(status))) return 'unmeasured';
  if (addresses.some(({ asn }) => asn !== null)) {
    const isComplete = isMeasured(dns.a.status) && isMeasured(dns.www.status) && !isFailed(dns.aaaa.status);
    return isComplete ? 'observed' : 'unmeasured';
  }
  return addresses.length > 0 || hasNoWeb ? 'absent' : 'unmeasured';
}

/** An error page says little about the site, so what it lacks was not measured. */
function measureWeb({
  evidence,
  webAnswer,
  hasNoWeb,
}: Reading): Pick<SourceMeasurements, 'header' | 'cookie' | 'html'> {
  const { statusCode, cookies, page } = evidence.http;
  switch (webAnswer) {
    case 'wall':
      return { header: 'blocked', cookie: 'blocked', html: 'blocked' };
    case 'redirect':
      return { header: 'observed', cookie: cookies.length > 0 ? 'observed' : 'absent', html: 'absent' };
    case 'elsewhere':
      return { header: 'absent', cookie: 'absent', html: 'absent' };
    case 'none': {
      const measurement = hasNoWeb ? 'absent' : 'unmeasured';
      return { header: measurement, cookie: measurement, html: measurement };
    }
    case 'own': {
      if (statusCode !== null && statusCode >= 400)
        return { header: 'unmeasured', cookie: 'unmeasured', html: 'unmeasured' };
      return {
        header: 'observed',
        cookie: cookies.length > 0 ? 'observed' : 'absent',
        html: page === null ? 'absent' : 'observed',
      };
    }
    default:
      return webAnswer satisfies never;
  }
}

function measureTls({ evidence, hasOwnCertificate, hasNoWeb }: Reading): Measurement {
  if (hasOwnCertificate) return 'observed';
  return evidence.tls.status !== 'found' && hasNoWeb ? 'absent' : 'unmeasured';
}
