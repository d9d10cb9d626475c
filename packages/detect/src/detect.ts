// Evidence and a rulebook -> a profile: read, match, judge, weigh, measure. The package's only detection path.
import type { Evidence } from './evidence/evidence.ts';
import { type Reading, readEvidence } from './evidence/reading.ts';
import { matchSets } from './fingerprints/match/match-sets.ts';
import { holdersOf } from './judge/holders.ts';
import { judge } from './judge/judge.ts';
import { measureRoles, measureSources } from './judge/measure.ts';
import { weighFindings } from './judge/weigh.ts';
import type { Finding } from './match/finding.ts';
import { matchDns } from './match/match-dns.ts';
import { matchWeb } from './match/match-web.ts';
import { posture } from './posture/posture.ts';
import type { DomainState, Profile } from './profile.ts';
import type { Rulebook } from './rulebook/rulebook.ts';
import { decideSector } from './sector/sector.ts';

/** The profile of a domain by its evidence under a rulebook. Deterministic; never throws on hostile records. */
export function detect(evidence: Evidence, rulebook: Rulebook): Profile {
  const reading = readEvidence(evidence);
  const own: Finding[] = [];
  if (reading.existence !== 'nonexistent') {
    matchDns(own, reading, rulebook);
    matchWeb(own, reading, rulebook);
  }
  const ofSets = matchSets(reading, rulebook, { own, sources: measureSources(reading, rulebook) });
  const { sources } = ofSets;
  const undecided = ofSets.findings.filter(({ isUndecided }) => isUndecided);
  for (const finding of ofSets.findings) own.push(finding);
  const { isParked, findings, unsettled: unsettledByJudge } = judge(own, reading);
  const services = weighFindings(
    undecided.length === 0 ? findings : findings.filter(({ isUndecided }) => !isUndecided),
  );
  const unsettled =
    undecided.length === 0
      ? unsettledByJudge
      : new Set([...unsettledByJudge, ...undecided.map(({ rule }) => rule.role)]);
  const page = reading.webAnswer === 'own' && !reading.failures.web ? evidence.http.page : null;
  const { sector, source: sectorSource } = decideSector(evidence.domain, { list: rulebook.sectors, page });
  const roles = measureRoles(reading, rulebook, { sources, services, findings, unsettled });
  return {
    domain: evidence.domain,
    observedAt: evidence.observedAt,
    rulebook: rulebook.version,
    state: stateOf(reading, isParked),
    services,
    sources,
    roles,
    holders: holdersOf(reading, services, roles),
    sector,
    sectorSource,
    country: countryOf(evidence),
    redirectsTo: reading.redirectsTo,
    security: posture(reading, rulebook),
  };
}

/** Of the address of the domain, else of `www`. */
function countryOf({ addresses }: Evidence): string | null {
  const of = (use: 'web' | 'www') => addresses.find((each) => each.use === use)?.country;
  return of('web') ?? of('www') ?? null;
}

function stateOf(reading: Reading, isParked: boolean): DomainState {
  if (reading.existence !== 'exists') return reading.existence === 'nonexistent' ? 'nonexistent' : 'unmeasured';
  return isParked ? 'parked' : 'active';
}
