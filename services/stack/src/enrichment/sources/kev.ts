// CISA's catalogue of known exploited vulnerabilities: one document, fetched with a conditional request.
// https://www.cisa.gov/known-exploited-vulnerabilities-catalog
import { readKev } from '@strata/advisories';
import { z } from 'zod';
import { type AdvisorySource, SourceError, type Step } from '../source.ts';
import { jsonOf, nameOf, politeGet } from './polite-get.ts';

export interface KevOptions {
  /** The full URL of the document. */
  readonly url: string;
  readonly everyMs: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const Cursor = z.object({ etag: z.string().nullable(), lastModified: z.string().nullable() });

export function kevSource({ url, everyMs }: KevOptions): AdvisorySource {
  return {
    name: 'kev',
    everyMs,
    async *sync(stored, deps) {
      const before = Cursor.safeParse(stored).data;
      const headers = {
        ...(before?.etag ? { 'if-none-match': before.etag } : {}),
        ...(before?.lastModified ? { 'if-modified-since': before.lastModified } : {}),
      };
      const answer = await politeGet(url, deps, { headers, maxBytes: MAX_BYTES, also: [304] });
      if (answer.status === 304) return before;
      const cursor = {
        etag: answer.headers.etag ?? null,
        lastModified: answer.headers['last-modified'] ?? null,
      } satisfies z.infer<typeof Cursor>;
      // The cursor changes only after the sync is complete: an interrupted sync reads everything again.
      yield kevStep(jsonOf(answer), nameOf(url), before ?? null);
      return cursor;
    },
  };
}

/** Ids of all entries, including unreadable ones, which are not removed. */
const Named = z.object({
  vulnerabilities: z.array(z.object({ cveID: z.string() }).nullable().catch(null)),
});

/** The complete catalogue as one step. */
export function kevStep(json: unknown, name: string, cursor: unknown): Step {
  const reading = readKev(json);
  if (!reading.ok) throw new SourceError(`${name}: ${reading.problem}`);
  const { exploited, skipped, problems } = reading.catalog;
  // An unknown format must not be taken for an empty catalogue.
  if (exploited.length < skipped || exploited.length === 0) {
    throw new SourceError(`${name}: ${problems[0] ?? 'the catalogue is empty'}`);
  }
  const named = Named.parse(json).vulnerabilities.flatMap((each) => each?.cveID ?? []);
  return { exploited, named, skipped, problem: problems[0] ?? null, read: exploited.length + skipped, cursor };
}
