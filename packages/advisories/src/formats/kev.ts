// CISA's catalog of known exploited vulnerabilities: https://www.cisa.gov/known-exploited-vulnerabilities-catalog
import { z } from 'zod';
import type { KnownExploited } from '../advisory.ts';
import { bounded, CveId, complaintOf, labelled, MAX_PROBLEMS, MAX_RECORDS } from './reading.ts';
import { oneLine, utcTime } from './text.ts';

interface KevCatalog {
  /** `2026.01.31`. */
  readonly version: string;
  readonly released: string | null;
  readonly exploited: readonly KnownExploited[];
  readonly skipped: number;
  readonly problems: readonly string[];
}

const MAX_ACTION = 2_000;

const Day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .refine((text) => utcTime(text)?.startsWith(text), 'expected a date');
const Catalog = z.object({
  catalogVersion: z.string().max(64),
  dateReleased: z.string().max(64).optional().catch(undefined),
  vulnerabilities: bounded(z.unknown(), MAX_RECORDS),
});
const Entry = z.object({
  cveID: CveId,
  dateAdded: Day,
  dueDate: Day.optional().catch(undefined),
  knownRansomwareCampaignUse: z.string().max(64).optional().catch(undefined),
  requiredAction: z.string(),
});

/** The complete catalog, which is small enough to be parsed at once. */
export function readKev(
  value: unknown,
): { readonly ok: true; readonly catalog: KevCatalog } | { readonly ok: false; readonly problem: string } {
  const parsed = Catalog.safeParse(value);
  if (!parsed.success) return { ok: false, problem: `KEV catalog: ${complaintOf(parsed.error)}` };
  const { catalogVersion, dateReleased, vulnerabilities } = parsed.data;
  const exploited: KnownExploited[] = [];
  const problems: string[] = [];
  for (const vulnerability of vulnerabilities) {
    const entry = Entry.safeParse(vulnerability);
    if (entry.success) exploited.push(exploitedOf(entry.data));
    else if (problems.length < MAX_PROBLEMS) problems.push(problemOf(vulnerability, entry.error));
  }
  return {
    ok: true,
    catalog: {
      version: oneLine(catalogVersion, 64),
      released: utcTime(dateReleased ?? '') ?? null,
      exploited,
      skipped: vulnerabilities.length - exploited.length,
      problems,
    },
  };
}

function exploitedOf(entry: z.infer<typeof Entry>): KnownExploited {
  return {
    cve: entry.cveID,
    dateAdded: entry.dateAdded,
    dueDate: entry.dueDate ?? null,
    isRansomware: entry.knownRansomwareCampaignUse?.toLowerCase() === 'known',
    requiredAction: oneLine(entry.requiredAction, MAX_ACTION),
  };
}

function problemOf(value: unknown, error: z.ZodError): string {
  const id = z.object({ cveID: z.string() }).safeParse(value).data?.cveID;
  return labelled(id, complaintOf(error));
}
