// What all publishers say of one vulnerability, in one advisory, whatever order their records come in.
import { type Advisory, type AdvisoryRecord, type Cvss, RANGE_SOURCES, type Severity } from './advisory.ts';
import { severityOf } from './cvss.ts';

/** Whose scoring is shown; others come after these. */
const SCORERS = ['nvd', 'cna', 'cisa-adp', 'ghsa', 'osv'];
const CVE_ID = /^CVE-\d{4}-\d{4,19}$/;
const GHSA_ID = /^GHSA(?:-[0-9A-Z]{4}){3}$/;

/**
 * The CVE id among a record's ids, else GitHub's, which Go, Python and others name with their own; the smallest if there
 * are several. Else the record's own.
 */
export function advisoryIdOf({ id, aliases }: Pick<AdvisoryRecord, 'id' | 'aliases'>): string {
  const ids = [id, ...aliases].map((name) => name.toUpperCase()).sort(byText);
  const ghsa = ids.find((name) => GHSA_ID.test(name));
  return ids.find((name) => CVE_ID.test(name)) ?? (ghsa && asGitHubWrites(ghsa)) ?? id;
}

function asGitHubWrites(ghsa: string): string {
  return `GHSA${ghsa.slice('GHSA'.length).toLowerCase()}`;
}

/** Undefined when there are no records. Of a record that is given twice, the later modified one counts. */
export function mergeRecords(id: string, given: readonly AdvisoryRecord[]): Advisory | undefined {
  const records = newestOfEach(given);
  const [first] = records;
  if (first === undefined) return undefined;
  // The CVE List gives the numbers: one that it takes back is none, whoever has not followed yet.
  const isTakenBack = records.some(
    ({ source, id: own, state }) => source === 'cna' && own === id && state === 'rejected',
  );
  const live = isTakenBack ? [] : records.filter(({ state }) => state === 'published');
  // What is withdrawn everywhere still has its words, and affects nothing.
  const telling = live.length > 0 ? live : records;
  const cvss = shownOf(telling.flatMap((record) => record.cvss));
  return {
    id,
    aliases: aliasesOf(id, records),
    state: live.length > 0 ? 'published' : 'rejected',
    title: firstOf(telling, 'title'),
    summary: firstOf(telling, 'summary'),
    published: records.map(({ published }) => published).reduce((a, b) => (b < a ? b : a), first.published),
    modified: records.map(({ modified }) => modified).reduce((a, b) => (b > a ? b : a), first.modified),
    cvss,
    severity: severityIn(cvss, telling),
    claims: live.flatMap(({ source, claims }) => claims.map((claim) => ({ ...claim, source }))),
    urls: [...new Set(telling.map(({ url }) => url))],
  };
}

function newestOfEach(records: readonly AdvisoryRecord[]): AdvisoryRecord[] {
  const sorted = records.toSorted(byBelief);
  return sorted.filter((record, i) => {
    const before = sorted[i - 1];
    return before === undefined || before.source !== record.source || before.id !== record.id;
  });
}

/** The last comparison is of equal ids and times, so that not even then does the order given matter. */
function byBelief(a: AdvisoryRecord, b: AdvisoryRecord): number {
  return (
    RANGE_SOURCES.indexOf(a.source) - RANGE_SOURCES.indexOf(b.source) ||
    byText(a.id, b.id) ||
    byText(b.modified, a.modified) ||
    byText(JSON.stringify(a), JSON.stringify(b))
  );
}

function aliasesOf(id: string, records: readonly AdvisoryRecord[]): string[] {
  const names = records.flatMap((record) => [record.id, ...record.aliases]).map((name) => name.toUpperCase());
  return [...new Set(names)].filter((name) => name !== id.toUpperCase()).sort(byText);
}

function firstOf(records: readonly AdvisoryRecord[], field: 'title' | 'summary'): string | null {
  return records.find((record) => record[field] !== null)?.[field] ?? null;
}

/** Of several by one publisher in one version, the highest: each is a way in which it may be met. */
function shownOf(scorings: readonly Cvss[]): Cvss | null {
  const sorted = scorings.toSorted(
    (a, b) =>
      rankOf(a.by) - rankOf(b.by) ||
      byText(a.by, b.by) ||
      byText(b.version, a.version) ||
      b.score - a.score ||
      byText(a.vector, b.vector),
  );
  return sorted[0] ?? null;
}

function rankOf(by: string): number {
  const rank = SCORERS.indexOf(by);
  return rank === -1 ? SCORERS.length : rank;
}

function severityIn(cvss: Cvss | null, records: readonly AdvisoryRecord[]): Severity | null {
  if (cvss !== null) return severityOf(cvss.score);
  return records.find(({ severity }) => severity !== null)?.severity ?? null;
}

function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
