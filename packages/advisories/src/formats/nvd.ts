// NVD's CVE API 2.0 and its yearly and `modified` files in the same format:
// https://nvd.nist.gov/developers/vulnerabilities
import { z } from 'zod';
import type { AdvisoryRecord, Cvss } from '../advisory.ts';
import { cvssOf } from '../cvss.ts';
import { Applicability, configurationClaims } from './applicability.ts';
import { bounded, CveId, complaintOf, MAX_RECORDS, type RecordReading, Texts, Time, unread } from './reading.ts';
import { englishOf, oneLine, summaryOf } from './text.ts';

/** CISA's identifier as a source of scores within NVD. */
const CISA_ADP = '134c704f-9b21-4f2e-91b3-4a353353bcc0';
/** Newest first; a record has a handful of each. */
const METRICS = ['cvssMetricV40', 'cvssMetricV31', 'cvssMetricV30', 'cvssMetricV2'] as const;
const MAX_SCORINGS = 50;

const Figure = z.number().int().min(0).max(1e9);
const Page = z.object({
  resultsPerPage: Figure,
  startIndex: Figure,
  totalResults: Figure,
  format: z.literal('NVD_CVE'),
  version: z.literal('2.0'),
  vulnerabilities: bounded(z.unknown(), MAX_RECORDS),
});
const Metric = z.object({
  source: z.string().max(320),
  cvssData: z.object({ vectorString: z.string().max(512), baseScore: z.number().min(0).max(10) }),
});
const Vulnerability = z.object({
  cve: z.object({
    id: CveId,
    sourceIdentifier: z.string().max(320).optional(),
    published: Time,
    lastModified: Time,
    vulnStatus: z.string().max(64).optional(),
    descriptions: Texts,
    metrics: z.unknown().optional(),
    configurations: Applicability.optional(),
  }),
});

/** The counts of a page or file and its unparsed records; or the problem of the file. */
export function readNvdHead(
  value: unknown,
): { readonly ok: true; readonly page: z.infer<typeof Page> } | { readonly ok: false; readonly problem: string } {
  const parsed = Page.safeParse(value);
  return parsed.success
    ? { ok: true, page: parsed.data }
    : { ok: false, problem: `NVD page: ${complaintOf(parsed.error)}` };
}

/** One element of `vulnerabilities`. */
export function readNvdRecord(value: unknown): RecordReading {
  const parsed = Vulnerability.safeParse(value);
  if (!parsed.success) return unread(idOf(value), complaintOf(parsed.error));
  const { cve } = parsed.data;
  const { claims, isCut } = configurationClaims(cve.configurations ?? []);
  const record: AdvisoryRecord = {
    source: 'nvd',
    id: cve.id,
    aliases: [],
    state: cve.vulnStatus === 'Rejected' ? 'rejected' : 'published',
    title: null,
    summary: summaryOf(englishOf(cve.descriptions)),
    published: cve.published,
    modified: cve.lastModified,
    cvss: scoringsOf(cve.metrics, cve.sourceIdentifier),
    severity: null,
    claims,
    url: `https://nvd.nist.gov/vuln/detail/${cve.id}`,
  };
  return { record, problem: isCut ? `${cve.id}: too many criteria, some configurations are left out` : null };
}

/** An invalid scoring is skipped and does not affect the rest of the record. */
function scoringsOf(metrics: unknown, assigner: string | undefined): Cvss[] {
  if (typeof metrics !== 'object' || metrics === null) return [];
  return METRICS.flatMap((name) => {
    const list: unknown = Object.hasOwn(metrics, name) ? Reflect.get(metrics, name) : [];
    return Array.isArray(list) ? list.slice(0, MAX_SCORINGS).flatMap((metric) => scoringOf(metric, assigner)) : [];
  });
}

function scoringOf(value: unknown, assigner: string | undefined): Cvss[] {
  const metric = Metric.safeParse(value);
  if (!metric.success) return [];
  const { source, cvssData } = metric.data;
  const { vectorString: vector, baseScore: score } = cvssData;
  const cvss = cvssOf({ vector, score, by: scorerOf(source, assigner) });
  return cvss === undefined ? [] : [cvss];
}

function scorerOf(source: string, assigner: string | undefined): string {
  if (source === 'nvd@nist.gov') return 'nvd';
  if (source === CISA_ADP) return 'cisa-adp';
  return source === assigner ? 'cna' : oneLine(source.toLowerCase(), 60);
}

function idOf(value: unknown): unknown {
  return z.object({ cve: z.object({ id: z.string() }) }).safeParse(value).data?.cve.id;
}
