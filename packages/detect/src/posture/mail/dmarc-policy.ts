// The DMARC policy in force for a domain and for names below it: its own, or one that the tree walk finds (RFC 9989
// §4.10).

import { isMeasured, type Lookup, type PolicyEvidence } from '../../evidence/evidence.ts';
import { hasSameOwner } from '../../names/names.ts';
import {
  type DmarcPolicy,
  type DmarcProblem,
  type DmarcRecord,
  parseDmarc,
  selectDmarc,
  unreadableDmarc,
} from './dmarc.ts';

/**
 * `authorized`: an address consents to receive reports, or belongs to the domain; `unknown`: consent was not queried.
 */
type Reporting = 'none' | 'authorized' | 'unauthorized' | 'unknown';

export interface Dmarc {
  /**
   * The record in force, or the void record instead of it; `foundAt` is its name, a parent's if the tree walk found it.
   */
  readonly record: string | null;
  readonly foundAt: string | null;
  /** It is a parent's record. */
  readonly isInherited: boolean;
  readonly organizationalDomain: string;
  /** Requested for mail of the domain itself. */
  readonly policy: DmarcPolicy | null;
  /** One level lower while the domain owner is testing (`t=y`). */
  readonly effectivePolicy: DmarcPolicy | null;
  readonly subdomainPolicy: DmarcPolicy | null;
  readonly effectiveSubdomainPolicy: DmarcPolicy | null;
  /** For names that do not exist; defaults to `sp`, then `p`. */
  readonly nonexistentPolicy: DmarcPolicy | null;
  readonly effectiveNonexistentPolicy: DmarcPolicy | null;
  readonly isTesting: boolean;
  /** `rua` has an address that can receive reports. */
  readonly hasReporting: boolean;
  readonly reporting: Reporting;
  /** Hosts outside the domain that do not consent to receive its reports (RFC 9990 §4). */
  readonly refusingHosts: readonly string[];
  /** Lower-case hosts of `rua` and `ruf` addresses of the domain's own record. */
  readonly reportHosts: readonly string[];
  /** The domain has no policy of its own, and the look-up of a parent's failed. */
  readonly isUnsettled: boolean;
  readonly problems: readonly DmarcProblem[];
}

const LOWERED: Readonly<Record<DmarcPolicy, DmarcPolicy>> = { reject: 'quarantine', quarantine: 'none', none: 'none' };
/** §4.10: at most eight names are queried, the domain's and seven more. */
const MAX_LABELS = 8;

interface Found {
  readonly name: string;
  readonly record: DmarcRecord;
}

/** Reads the policy from the TXT records of `_dmarc`, and of its parents if they were queried. */
export function readDmarc(domain: string, txt: Lookup<string>, policies?: PolicyEvidence): Dmarc {
  const selected = selectDmarc(txt.records);
  const own = onlyRecord(domain, selected);
  // While the domain's own answer is unknown, a parent's policy may not be in force.
  const answers = isMeasured(txt.status) ? answersOfParents(domain, policies?.dmarcParents) : [];
  const inherited = answers.flatMap(({ name, answer }) => onlyRecord(name, selectDmarc(answer.records)) ?? []);
  const organizationalDomain = organizationalDomainOf(domain, own ? [own, ...inherited] : inherited);
  // A void record requests nothing, and prevents the query of a parent's.
  const shown = own ?? inForce(organizationalDomain, inherited);
  const force = shown?.record.policy === null ? undefined : shown;
  const record = force?.record;
  const [policy, subdomainPolicy, nonexistentPolicy] = record
    ? policiesOf(record, own !== undefined)
    : [null, null, null];
  const lower = (each: DmarcPolicy | null) => (each !== null && record?.isTesting ? LOWERED[each] : each);
  return {
    record: shown?.record.record ?? null,
    foundAt: shown?.name ?? null,
    isInherited: shown !== undefined && shown !== own,
    organizationalDomain,
    policy,
    effectivePolicy: lower(policy),
    subdomainPolicy,
    effectiveSubdomainPolicy: lower(subdomainPolicy),
    nonexistentPolicy,
    effectiveNonexistentPolicy: lower(nonexistentPolicy),
    isTesting: record?.isTesting ?? false,
    hasReporting: record !== undefined && record.aggregateHosts.length > 0,
    ...consentsOf(force, policies?.reportConsents),
    reportHosts: own ? reportHostsOf(own.record) : [],
    isUnsettled: !shown && answers.some(({ answer }) => !isMeasured(answer.status)),
    problems: own?.record.problems ?? unselected(txt.records, selected),
  };
}

/** The reason why none of the records is the domain's policy. */
function unselected(txts: readonly string[], selected: readonly string[]): readonly DmarcProblem[] {
  if (selected.length > 1) return [{ code: 'several-records', term: '' }];
  const unreadable = unreadableDmarc(txts);
  return unreadable ? [unreadable] : [];
}

/** Whether the policy in force is known: the domain's own look-up and those of all relevant parents were answered. */
export function isSettled({ status }: Lookup<string>, { isUnsettled }: Dmarc): boolean {
  return isMeasured(status) && !isUnsettled;
}

/** Lower-case report hosts of the DMARC record among a name's TXT records. */
export function dmarcReportHosts(txts: readonly string[]): readonly string[] {
  const [record, ...rest] = selectDmarc(txts);
  return record === undefined || rest.length > 0 ? [] : reportHostsOf(parseDmarc(record));
}

function reportHostsOf({ aggregateHosts, failureHosts }: DmarcRecord): readonly string[] {
  return failureHosts.length === 0 ? aggregateHosts : [...new Set([...aggregateHosts, ...failureHosts])];
}

/** §4.10: several records under a name count as none. */
function onlyRecord(name: string, records: readonly string[]): Found | undefined {
  const [record, ...rest] = records;
  return record === undefined || rest.length > 0 ? undefined : { name, record: parseDmarc(record) };
}

interface ParentAnswer {
  readonly name: string;
  readonly answer: Lookup<string>;
}

/**
 * Answers of the names that the tree walk visits, as far as they were queried; for a long name the left-most labels are
 * skipped.
 */
function answersOfParents(domain: string, byName: PolicyEvidence['dmarcParents'] | undefined): readonly ParentAnswer[] {
  const answers: ParentAnswer[] = [];
  let labels = 0;
  for (let dot = domain.lastIndexOf('.'); dot !== -1 && ++labels < MAX_LABELS; dot = domain.lastIndexOf('.', dot - 1)) {
    const name = domain.slice(dot + 1);
    const answer = known(byName, name);
    if (answer) answers.unshift({ name, answer });
    if (dot === 0) break;
  }
  return answers;
}

/** §4.10.2: below a public suffix with `psd=y`; the name with `psd=n`; otherwise the highest with a record. */
function organizationalDomainOf(domain: string, found: readonly Found[]): string {
  let highest = domain;
  for (const { name, record } of found) {
    if (record.psd === 'n' || (record.psd === 'y' && name === domain)) return name;
    if (record.psd === 'y') return childOf(name, domain);
    highest = name;
  }
  return highest;
}

/** The name one label below `parent` towards `domain`. */
function childOf(parent: string, domain: string): string {
  const labels = domain.split('.');
  return labels.slice(-(parent.split('.').length + 1)).join('.');
}

/** §4.10.1: without its own record a name has that of its organizational domain, or of its public suffix. */
function inForce(organizationalDomain: string, inherited: readonly Found[]): Found | undefined {
  return (
    inherited.find(({ name }) => name === organizationalDomain) ?? inherited.find(({ record }) => record.psd === 'y')
  );
}

/** For the domain, names below it, and names below it that do not exist. A parent's `sp` is the domain's policy. */
function policiesOf({ policy, subdomainPolicy, nonexistentPolicy }: DmarcRecord, isOwn: boolean) {
  const below = subdomainPolicy ?? policy;
  return [isOwn ? policy : below, below, nonexistentPolicy ?? below] as const;
}

/** RFC 9990 §4: a destination outside the domain has to publish its consent. */
function consentsOf(
  force: Found | undefined,
  consents: PolicyEvidence['reportConsents'] | undefined,
): Pick<Dmarc, 'reporting' | 'refusingHosts'> {
  if (!force || force.record.aggregateHosts.length === 0) return { reporting: 'none', refusingHosts: [] };
  const refusingHosts: string[] = [];
  let reporting: Reporting = 'unauthorized';
  for (const host of force.record.aggregateHosts) {
    const consent = hasSameOwner(host, force.name) ? 'authorized' : consentOf(known(consents, host));
    if (consent === 'unauthorized') refusingHosts.push(host);
    else if (reporting !== 'authorized') reporting = consent;
  }
  return { reporting, refusingHosts };
}

/** The result of the consent query of a destination. */
function consentOf(answer: Lookup<string> | undefined): Exclude<Reporting, 'none'> {
  if (!answer || !isMeasured(answer.status)) return 'unknown';
  return selectDmarc(answer.records).length > 0 ? 'authorized' : 'unauthorized';
}

/** Names are untrusted: only own keys count. */
function known(byName: Readonly<Record<string, Lookup<string>>> | undefined, name: string): Lookup<string> | undefined {
  return byName && Object.hasOwn(byName, name) ? byName[name] : undefined;
}
