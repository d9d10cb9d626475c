// Merges all publishers' records of one vulnerability into one advisory, independent of their order.
import { type Advisory, type AdvisoryRecord, type Cvss, RANGE_SOURCES, type Severity } from './advisory.ts';
import { severityOf } from './cvss.ts';

/** Precedence of the displayed scoring; other scorers come after these. */
const SCORERS = ['nvd', 'cna', 'cisa-adp', 'ghsa', 'osv'];
const CVE_ID = /^CVE-\d{4}-\d{4,19}$/;
const GHSA_ID = /^GHSA(?:-[0-9A-Z]{4}){3}$/;

/**
 * The CVE id among a record's ids, otherwise GitHub's, to which Go, Python and other sources link their own ids; the smallest if
 * there are several. Otherwise the record's own.
 */
export function advisoryIdOf({ id, aliases }: Pick<AdvisoryRecord, 'id' | 'aliases'>): string {
  const ids = [id, ...aliases].map((name) => name.toUpperCase()).sort(byText);
  const ghsa = ids.find((name) => GHSA_ID.test(name));
  return ids.find((name) => CVE_ID.test(name)) ?? (ghsa && asGitHubWrites(ghsa)) ?? id;
}

function asGitHubWrites(ghsa: string): string {
  return `GHSA${ghsa.slice('GHSA'.length).toLowerCase()}`;
}

/** Undefined without records. Of duplicates of a record the one modified last counts. */
export function mergeRecords(id: string, given: readonly AdvisoryRecord[]): Advisory | undefined {
  const records = newestOfEach(given);
  const [first] = records;
  if (first === undefined) return undefined;
  // The CVE List assigns the ids: a CVE that it rejects is rejected, even if other publishers have not updated their
  // records.
  const isTakenBack = records.some(
    ({ source, id: own, state }) => source === 'cna' && own === id && state === 'rejected',
  );
  const live = isTakenBack ? [] : records.filter(({ state }) => state === 'published');
  // An advisory that is withdrawn everywhere keeps its texts, and affects nothing.
  const sources = live.length > 0 ? live : records;
  const cvss = shownOf(sources.flatMap((record) => record.cvss));
  return {
    id,
    aliases: aliasesOf(id, records),
    state: live.length > 0 ? 'published' : 'rejected',
    title: firstOf(sources, 'title'),
    summary: firstOf(sources, 'summary'),
    published: records.map(({ published }) => published).reduce((a, b) => (b < a ? b : a), first.published),
    modified: records.map(({ modified }) => modified).reduce((a, b) => (b > a ? b : a), first.modified),
    cvss,
    severity: severityIn(cvss, sources),
    claims: live.flatMap(({ source, claims }) => claims.map((claim) => ({ ...claim, source }))),
    urls: [...new Set(sources.map(({ url }) => url))],
  };
}

function newestOfEach(records: readonly AdvisoryRecord[]): AdvisoryRecord[] {
  const sorted = records.toSorted(byBelief);
  return sorted.filter((record, i) => {
    const before = sorted[i - 1];
    return before === undefined || before.source !== record.source || before.id !== record.id;
  });
}

/** The last comparison applies to equal ids and times, so that the result never depends on the input order. */
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

/** Of several scorings by one publisher in one version the highest: each is a possible condition. */
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
