// The CVE API 2.0 of the NVD. https://nvd.nist.gov/developers/vulnerabilities
import type { IncomingMessage } from 'node:http';
import { cvssOf } from '../cvss.ts';
import { type AffectedProduct, descriptionOf, uuidOf, type VulnerabilityFacts } from '../facts.ts';
import type { Entry, Library } from '../library.ts';
import { dueDateOf, REQUIRED_ACTION } from './kev.ts';
import { nvdLimits } from './nvd-limits.ts';
import { type Handler, NOT_FOUND, type Reply } from './publisher.ts';

export const NVD_PATH = '/rest/json/cves/2.0';

const MAX_PAGE = 2_000;
const MAX_WINDOW_MS = 120 * 86_400_000;
const PARAMETERS = new Set([
  'resultsPerPage',
  'startIndex',
  'lastModStartDate',
  'lastModEndDate',
  'cveId',
  'noRejected',
]);

export function nvdHandler(library: Library, options: { readonly rateLimits: boolean }): Handler {
  const refusalOf = options.rateLimits ? nvdLimits() : () => undefined;
  return (url, request) => {
    if (url.pathname.replace(/\/$/, '') !== NVD_PATH) return NOT_FOUND;
    return refusalOf(apiKeyOf(request)) ?? answer(library, url.searchParams);
  };
}

function apiKeyOf({ headers }: IncomingMessage): string | undefined {
  // HTTP header names are case-insensitive: `apiKey` in the manual.
  const key = headers.apikey;
  return typeof key === 'string' ? key : undefined;
}

/** Every invalid request gets a 404 with the reason in a header. */
function wrong(message: string): Reply {
  return { status: 404, headers: { message } };
}

function answer(library: Library, parameters: URLSearchParams): Reply {
  for (const name of parameters.keys()) if (!PARAMETERS.has(name)) return wrong(`Invalid parameter: ${name}.`);
  const perPage = parseInteger(parameters.get('resultsPerPage') ?? String(MAX_PAGE));
  const startIndex = parseInteger(parameters.get('startIndex') ?? '0');
  if (perPage === undefined || perPage > MAX_PAGE) return wrong('Invalid resultsPerPage parameter.');
  if (startIndex === undefined) return wrong('Invalid startIndex parameter.');
  const cveId = parameters.get('cveId');
  if (cveId !== null) return one(library, cveId);

  const from = parameters.get('lastModStartDate');
  const to = parameters.get('lastModEndDate');
  if ((from === null) !== (to === null)) return wrong('Both lastModStartDate and lastModEndDate are required.');
  if (from === null || to === null) return page(library, { perPage, startIndex });
  const window = { from: timeOf(from), to: timeOf(to) };
  if (Number.isNaN(window.from) || Number.isNaN(window.to)) return wrong('Invalid date format.');
  if (window.to < window.from) return wrong('lastModEndDate is before lastModStartDate.');
  if (window.to - window.from > MAX_WINDOW_MS) return wrong('The range is more than 120 days.');
  return page(library, { perPage, startIndex, window });
}

function parseInteger(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** ISO 8601; UTC without a zone. NaN if invalid. */
function timeOf(text: string): number {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)(Z|[+-]\d\d:?\d\d)?$/.exec(text);
  return match ? Date.parse(`${match[1]}${match[2] ?? 'Z'}`) : Number.NaN;
}

function one(library: Library, cveId: string): Reply {
  if (!/^CVE-\d{4}-\d{4,}$/.test(cveId)) return wrong('Invalid cveId.');
  const entry = library.find(cveId);
  return json(library, { perPage: entry ? 1 : 0, startIndex: 0, total: entry ? 1 : 0, entries: entry ? [entry] : [] });
}

interface PageQuery {
  readonly perPage: number;
  readonly startIndex: number;
  readonly window?: { readonly from: number; readonly to: number };
}

/** In order of publication, oldest first: the bulk, with the changeable records inserted by date. */
function page(library: Library, { perPage, startIndex, window }: PageQuery): Reply {
  const { bulk } = library;
  const first = window ? bulk.modifiedBefore(window.from) : 0;
  const end = window ? bulk.modifiedBefore(window.to + 1) : bulk.size;
  const changeable = library
    .entries()
    .filter(({ facts }) => facts.id.startsWith('CVE-'))
    .filter(({ modifiedAt }) => !window || (modifiedAt >= window.from && modifiedAt <= window.to));
  // Each changeable record's index in the merged list.
  const byIndex = new Map(
    changeable.map((entry, rank) => {
      const before = Math.min(end, Math.max(first, bulk.publishedBefore(entry.publishedAt)));
      return [before - first + rank, entry];
    }),
  );
  const total = end - first + changeable.length;
  let inserted = [...byIndex.keys()].filter((index) => index < startIndex).length;
  const entries: Entry[] = [];
  for (let index = startIndex; index < Math.min(total, startIndex + perPage); index += 1) {
    const entry = byIndex.get(index);
    entries.push(entry ?? library.bulkEntry(first + index - inserted));
    if (entry) inserted += 1;
  }
  return json(library, { perPage: entries.length, startIndex, total, entries });
}

function json(
  library: Library,
  found: {
    readonly perPage: number;
    readonly startIndex: number;
    readonly total: number;
    readonly entries: readonly Entry[];
  },
): Reply {
  const body = {
    resultsPerPage: found.perPage,
    startIndex: found.startIndex,
    totalResults: found.total,
    format: 'NVD_CVE',
    version: '2.0',
    timestamp: withoutZone(library.now().getTime()),
    vulnerabilities: found.entries.map((entry) => ({ cve: recordOf(entry) })),
  };
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** The NVD omits the zone of its UTC times. */
function withoutZone(time: number): string {
  return new Date(time).toISOString().slice(0, -1);
}

function recordOf({ facts, publishedAt, modifiedAt }: Entry): unknown {
  const { id, title, isRejected, isMalformed, kev } = facts;
  if (isMalformed) return { id, published: 'last week', lastModified: 7, descriptions: {}, configurations: 'none' };
  const isAnalysed = facts.nvd !== 'awaiting' && !isRejected;
  return {
    id,
    sourceIdentifier: 'cve@mitre.org',
    published: withoutZone(publishedAt),
    lastModified: withoutZone(modifiedAt),
    vulnStatus: isRejected ? 'Rejected' : isAnalysed ? 'Analyzed' : 'Awaiting Analysis',
    cveTags: [],
    descriptions: [
      { lang: 'en', value: isRejected ? `Rejected reason: ${title}` : descriptionOf(facts) },
      { lang: 'es', value: 'Descripción en otro idioma.' },
    ],
    ...(kev && !isRejected
      ? {
          cisaExploitAdd: kev,
          cisaActionDue: dueDateOf(kev),
          cisaRequiredAction: REQUIRED_ACTION,
          cisaVulnerabilityName: title,
        }
      : {}),
    metrics: isAnalysed ? metricsOf(facts) : {},
    ...(isAnalysed
      ? {
          weaknesses: [
            { source: 'nvd@nist.gov', type: 'Primary', description: [{ lang: 'en', value: 'NVD-CWE-noinfo' }] },
          ],
          configurations: configurationsOf(facts),
        }
      : {}),
    references: [{ url: `https://vendor.example/security/${id}`, source: 'cve@mitre.org', tags: ['Vendor Advisory'] }],
  };
}

/** Keys as in the NVD, `cvssMetricV31`; its own scorings are primary. */
function metricsOf({ vector, scorings = [] }: VulnerabilityFacts): Record<string, unknown> {
  const { data, exploitability, impact } = cvssOf(vector);
  const own = { source: 'nvd@nist.gov', type: 'Primary' };
  const additional = scorings.map(({ version, vector: vectorString, score, severity, by }) => {
    const who = by === 'nvd' ? own : { source: 'cve@mitre.org', type: 'Secondary' };
    const cvssData = { version, vectorString, baseScore: score };
    return version === '2.0'
      ? ['cvssMetricV2', [{ ...who, cvssData, baseSeverity: severity }]]
      : ['cvssMetricV40', [{ ...who, cvssData: { ...cvssData, baseSeverity: severity } }]];
  });
  return {
    ...Object.fromEntries(additional),
    cvssMetricV31: [{ ...own, cvssData: data, exploitabilityScore: exploitability, impactScore: impact }],
  };
}

function configurationsOf({ affected, runsOn }: VulnerabilityFacts): unknown[] {
  const node = (cpeMatch: readonly unknown[]) => ({ operator: 'OR', negate: false, cpeMatch });
  return affected
    .filter((product) => product.cpe !== undefined)
    .map((product) => {
      const vulnerable = node(product.versions.map((versions) => criterionOf(product, versions)));
      if (!runsOn) return { nodes: [vulnerable] };
      const criteria = `cpe:2.3:${runsOn.part}:${runsOn.cpe}:-:*:*:*:*:*:*:*`;
      const platform = { vulnerable: false, criteria, matchCriteriaId: matchId(criteria) };
      return { operator: 'AND', nodes: [vulnerable, node([platform])] };
    });
}

function criterionOf(
  { cpe, part = 'a', package: source }: AffectedProduct,
  { from, below, upTo }: AffectedProduct['versions'][number],
): unknown {
  const isOne = from !== undefined && from === upTo;
  // Dots, hyphens and underscores are literal in a formatted string; all other non-alphanumeric characters are escaped.
  const version = isOne ? from.replace(/[^\w.-]/g, '\\$&') : '*';
  const criteria = `cpe:2.3:${part}:${cpe}:${version}:*:*:*:*:${source?.ecosystem === 'npm' ? 'node.js' : '*'}:*:*`;
  const bounds = {
    ...(from === undefined ? {} : { versionStartIncluding: from }),
    ...(below === undefined ? {} : { versionEndExcluding: below }),
    ...(upTo === undefined ? {} : { versionEndIncluding: upTo }),
  };
  return {
    vulnerable: true,
    criteria,
    ...(isOne ? {} : bounds),
    matchCriteriaId: matchId(criteria, JSON.stringify(bounds)),
  };
}

function matchId(...parts: readonly string[]): string {
  return uuidOf('match', ...parts).toUpperCase();
}
