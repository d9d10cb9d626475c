// The NVD CVE API 2.0: all pages once, then what was modified since. https://nvd.nist.gov/developers/vulnerabilities
import { readNvdHead, readNvdRecord } from '@strata/advisories';
import { z } from 'zod';
import { jsonOf, nameOf, Pace, politeGet } from './polite-get.ts';
import { type AdvisorySource, RecordBatch, SourceError, type SourceParts, type Step } from './source.ts';

export interface NvdOptions {
  /** Up to and with `/cves/2.0`. */
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly everyMs: number;
  /** Between two requests, in place of what NVD asks for. */
  readonly gapMs?: number;
}

/** The most that NVD gives. */
const PAGE = 2_000;
/** 5 requests in 30 s without a key, 50 with one; NVD asks for 6 s between them. */
const GAP_MS = { anonymous: 6_000, keyed: 600 } as const;
const DAY_MS = 86_400_000;
/** The longest span of modification dates that may be asked for. */
const WINDOW_MS = 120 * DAY_MS;
/** What was modified just now may not be served yet. */
const OVERLAP_MS = 3_600_000;
const RECORDS_AT_ONCE = 200;
const MAX_PAGE_BYTES = 128 * 1024 * 1024;

const Cursor = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('all'), startIndex: z.int().min(0), since: z.iso.datetime() }),
  z.object({
    mode: z.literal('modified'),
    startIndex: z.int().min(0),
    from: z.iso.datetime(),
    to: z.iso.datetime(),
  }),
  z.object({ mode: z.literal('done'), since: z.iso.datetime() }),
]);

export function nvdSource(options: NvdOptions): AdvisorySource {
  const pace = new Pace(options.gapMs ?? (options.apiKey ? GAP_MS.keyed : GAP_MS.anonymous));
  return {
    name: 'nvd',
    everyMs: options.everyMs,
    async *sync(stored, parts) {
      const now = () => parts.now().toISOString();
      let cursor = Cursor.safeParse(stored).data ?? { mode: 'all' as const, startIndex: 0, since: now() };
      if (cursor.mode === 'all') {
        const { since } = cursor;
        const place = (startIndex: number) => ({ mode: 'all' as const, startIndex, since });
        yield* pages({}, { startIndex: cursor.startIndex, place, options, pace, parts });
        cursor = { mode: 'done', since };
      }
      // A window that was cut off is gone on with; then what has been modified after it.
      let from = cursor.mode === 'modified' ? cursor.from : cursor.since;
      let open = cursor.mode === 'modified' ? cursor : undefined;
      const until = now();
      while (open || from < until) {
        const to = open?.to ?? earlier(new Date(Date.parse(from) + WINDOW_MS).toISOString(), until);
        const begin = from;
        const place = (startIndex: number) => ({ mode: 'modified' as const, startIndex, from: begin, to });
        const window = { lastModStartDate: begin, lastModEndDate: to };
        yield* pages(window, { startIndex: open?.startIndex ?? 0, place, options, pace, parts });
        open = undefined;
        from = to;
      }
      const since = new Date(Date.parse(until) - OVERLAP_MS).toISOString();
      return { mode: 'done', since } satisfies z.infer<typeof Cursor>;
    },
  };
}

interface Paging {
  readonly startIndex: number;
  /** The cursor after a page. */
  readonly place: (startIndex: number) => z.infer<typeof Cursor>;
  readonly options: NvdOptions;
  readonly pace: Pace;
  readonly parts: SourceParts;
}

async function* pages(query: Readonly<Record<string, string>>, paging: Paging): AsyncGenerator<Step> {
  const { place, options, pace, parts } = paging;
  const headers = options.apiKey ? { apikey: options.apiKey } : {};
  for (let startIndex = paging.startIndex; ; ) {
    const url = new URL(options.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    url.searchParams.set('resultsPerPage', String(PAGE));
    url.searchParams.set('startIndex', String(startIndex));
    const answer = await politeGet(url.href, parts, { headers, maxBytes: MAX_PAGE_BYTES, pace });
    const head = readNvdHead(jsonOf(answer));
    if (!head.ok) throw new SourceError(`${nameOf(url.href)} gives no ${head.problem}`);
    const { totalResults, vulnerabilities } = head.page;
    // A page is read in pieces, so that others have their turn in between.
    for (let from = 0; from < vulnerabilities.length; from += RECORDS_AT_ONCE) {
      const batch = new RecordBatch();
      for (const each of vulnerabilities.slice(from, from + RECORDS_AT_ONCE)) batch.add(readNvdRecord(each));
      yield batch.step(place(startIndex + from + batch.size), totalResults);
    }
    startIndex += vulnerabilities.length;
    // A page without records would be asked for for ever.
    if (vulnerabilities.length === 0 || startIndex >= totalResults) return;
  }
}

const earlier = (a: string, b: string): string => (a < b ? a : b);
