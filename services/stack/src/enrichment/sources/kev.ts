// CISA's catalogue of vulnerabilities known to be exploited: one document, asked for with what was had before.
// https://www.cisa.gov/known-exploited-vulnerabilities-catalog
import { readKev } from '@strata/advisories';
import { z } from 'zod';
import { type AdvisorySource, SourceError, type Step } from '../source.ts';
import { jsonOf, nameOf, politeGet } from './polite-get.ts';

export interface KevOptions {
  /** The whole address of the document. */
  readonly url: string;
  readonly everyMs: number;
}

const MAX_BYTES = 64 * 1024 * 1024;
const Cursor = z.object({ etag: z.string().nullable(), lastModified: z.string().nullable() });

export function kevSource({ url, everyMs }: KevOptions): AdvisorySource {
  return {
    name: 'kev',
    everyMs,
    async *sync(stored, parts) {
      const before = Cursor.safeParse(stored).data;
      const headers = {
        ...(before?.etag ? { 'if-none-match': before.etag } : {}),
        ...(before?.lastModified ? { 'if-modified-since': before.lastModified } : {}),
      };
      const answer = await politeGet(url, parts, { headers, maxBytes: MAX_BYTES, also: [304] });
      if (answer.status === 304) return before;
      const cursor = {
        etag: answer.headers.etag ?? null,
        lastModified: answer.headers['last-modified'] ?? null,
      } satisfies z.infer<typeof Cursor>;
      // Until the sync is whole the old cursor stands: cut off now, all of it is read again.
      yield kevStep(jsonOf(answer), nameOf(url), before ?? null);
      return cursor;
    },
  };
}

/** Ids of all entries, also of those that cannot be understood: these are not taken back. */
const Named = z.object({
  vulnerabilities: z.array(z.object({ cveID: z.string() }).nullable().catch(null)),
});

/** The whole catalogue as one step. */
export function kevStep(json: unknown, name: string, cursor: unknown): Step {
  const reading = readKev(json);
  if (!reading.ok) throw new SourceError(`${name}: ${reading.problem}`);
  const { exploited, skipped, problems } = reading.catalog;
  // A form that we do not know any more is no catalogue of nothing.
  if (exploited.length < skipped || exploited.length === 0) {
    throw new SourceError(`${name}: ${problems[0] ?? 'the catalogue is empty'}`);
  }
  const named = Named.parse(json).vulnerabilities.flatMap((each) => each?.cveID ?? []);
  return { exploited, named, skipped, problem: problems[0] ?? null, read: exploited.length + skipped, cursor };
}
