// OSV records, including GitHub's advisories: https://ossf.github.io/osv-schema/
import { z } from 'zod';
import type { AdvisoryRecord, Cvss, RangeSource, Severity } from '../../advisory.ts';
import { cvssOf } from '../../cvss.ts';
import { bounded, complaintOf, type RecordReading, Time, unread } from '../reading.ts';
import { summaryOf, titleOf } from '../text.ts';
import { OsvAffected, osvClaims } from './osv-affected.ts';

const Id = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{2,127}$/);
const Severities = bounded(z.object({ type: z.string().max(64), score: z.string().max(512) }), 100)
  .optional()
  .catch(undefined);
const OsvRecord = z.object({
  id: Id,
  modified: Time,
  published: Time.optional(),
  withdrawn: Time.nullish(),
  aliases: bounded(z.string().max(1_024)).nullish(),
  summary: z.string().nullish(),
  details: z.string().nullish(),
  severity: Severities,
  affected: bounded(OsvAffected.extend({ severity: Severities })).nullish(),
  database_specific: z
    .object({ severity: z.string().max(64).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
type OsvRecord = z.infer<typeof OsvRecord>;

const MAX_ALIASES = 100;
const MAX_SCORINGS = 20;

const words: ReadonlyMap<string, Severity> = new Map([
  ['low', 'low'],
  ['moderate', 'medium'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['important', 'high'],
  ['critical', 'critical'],
]);

/** One OSV record. */
export function readOsvRecord(value: unknown): RecordReading {
  const parsed = OsvRecord.safeParse(value);
  if (!parsed.success) return unread(idOf(value), complaintOf(parsed.error));
  const osv = parsed.data;
  const source = osv.id.startsWith('GHSA-') ? 'ghsa' : 'osv';
  const { claims, isCut } = osvClaims(osv.affected ?? []);
  const record: AdvisoryRecord = {
    source,
    id: osv.id,
    aliases: aliasesOf(osv),
    state: osv.withdrawn ? 'rejected' : 'published',
    title: titleOf(osv.summary),
    summary: summaryOf(osv.details) ?? summaryOf(osv.summary),
    published: osv.published ?? osv.modified,
    modified: osv.modified,
    cvss: scoringsOf(osv, source),
    severity: wordOf(osv),
    claims,
    url: urlOf(source, osv.id),
  };
  return { record, problem: isCut ? `${osv.id}: too many versions, some are left out` : null };
}

function aliasesOf({ id, aliases }: OsvRecord): string[] {
  const own = id.toUpperCase();
  const ids = (aliases ?? []).map((alias) => alias.trim().toUpperCase());
  return [...new Set(ids.filter((alias) => alias !== own && Id.safeParse(alias).success))].slice(0, MAX_ALIASES);
}

/** Of the record, or of its packages if each has its own. */
function scoringsOf({ severity, affected }: OsvRecord, by: RangeSource): Cvss[] {
  const given = severity?.length ? severity : (affected ?? []).flatMap((entry) => entry.severity ?? []);
  const vectors = new Set(given.flatMap(({ type, score }) => (type.startsWith('CVSS_V') ? score.trim() : [])));
  return [...vectors].slice(0, MAX_SCORINGS).flatMap((vector) => cvssOf({ vector, by }) ?? []);
}

function wordOf({ severity, database_specific }: OsvRecord): Severity | null {
  const ubuntu = severity?.find(({ type }) => type === 'Ubuntu')?.score;
  return words.get((database_specific?.severity ?? ubuntu ?? '').toLowerCase()) ?? null;
}

function urlOf(source: RangeSource, id: string): string {
  return source === 'ghsa' ? `https://github.com/advisories/${id}` : `https://osv.dev/vulnerability/${id}`;
}

function idOf(value: unknown): unknown {
  return z.object({ id: z.string() }).safeParse(value).data?.id;
}
