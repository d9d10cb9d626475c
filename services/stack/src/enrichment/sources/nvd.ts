// The NVD CVE API 2.0: all pages once, then modified records. https://nvd.nist.gov/developers/vulnerabilities
import { readNvdHead, readNvdRecord } from '@strata/advisories';
import { z } from 'zod';
import { type AdvisorySource, RecordBatch, type SourceDeps, SourceError, type Step } from '../source.ts';
import { jsonOf, nameOf, politeGet, RequestInterval } from './polite-get.ts';

export interface NvdOptions {
  /** The URL including `/cves/2.0`. */
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly everyMs: number;
  /** Interval between requests; replaces NVD's recommended one. */
  readonly gapMs?: number;
}

/** NVD's maximum. */
const PAGE = 2_000;
/** 5 requests in 30 s without a key, 50 with one; NVD recommends 6 s between requests. */
const GAP_MS = { anonymous: 6_000, keyed: 600 } as const;
const DAY_MS = 86_400_000;
/** NVD's maximum span of modification dates. */
const WINDOW_MS = 120 * DAY_MS;
/** Recent modifications may not be served yet. */
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
    /** Records in the window at the last request. */
    total: z.int().min(0).optional(),
  }),
  z.object({ mode: z.literal('done'), since: z.iso.datetime() }),
]);

/** NVD's times are UTC without a zone. */
const Stamped = z.object({
  timestamp: z
    .string()
    .max(40)
    .transform((text) => Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`))
    .refine((time) => !Number.isNaN(time)),
});

export function nvdSource(options: NvdOptions): AdvisorySource {
  const interval = new RequestInterval(options.gapMs ?? (options.apiKey ? GAP_MS.keyed : GAP_MS.anonymous));
  return {
    name: 'nvd',
    everyMs: options.everyMs,
    async *sync(stored, deps) {
      const now = () => deps.now().toISOString();
      let cursor = Cursor.safeParse(stored).data ?? { mode: 'all' as const, startIndex: 0, since: overlapping(now()) };
      if (cursor.mode === 'all') {
        const { since } = cursor;
        const cursorAt = (startIndex: number) => ({ mode: 'all' as const, startIndex, since });
        yield* pages({}, { startIndex: cursor.startIndex, total: undefined, cursorAt, options, interval, deps });
        cursor = { mode: 'done', since };
      }
      // Resumes an interrupted window; then reads later modifications.
      let from = cursor.mode === 'modified' ? cursor.from : cursor.since;
      let open = cursor.mode === 'modified' ? cursor : undefined;
      const until = now();
      let servedAt = Date.parse(until);
      while (open || from < until) {
        const to = open?.to ?? earlier(new Date(Date.parse(from) + WINDOW_MS).toISOString(), until);
        const begin = from;
        const stretch = { mode: 'modified', from: begin, to } as const;
        const cursorAt = (startIndex: number, total: number) => ({ ...stretch, startIndex, total });
        const { startIndex = 0, total } = open ?? {};
        const window = { lastModStartDate: begin, lastModEndDate: to };
        servedAt = Math.min(servedAt, yield* pages(window, { startIndex, total, cursorAt, options, interval, deps }));
        // The end of an interrupted window was the present of that time.
        from = open ? overlapping(to) : to;
        open = undefined;
      }
      // Uses the publisher's clock if it is behind ours: it dates the records.
      return { mode: 'done', since: overlapping(new Date(servedAt).toISOString()) } satisfies z.infer<typeof Cursor>;
    },
  };
}

interface Paging {
  readonly startIndex: number;
  /** The total at the previous request. */
  readonly total: number | undefined;
  /** The cursor at a record, with the total. */
  readonly cursorAt: (startIndex: number, total: number) => z.infer<typeof Cursor>;
  readonly options: NvdOptions;
  readonly interval: RequestInterval;
  readonly deps: SourceDeps;
}

/** Returns the publisher's time from its first page, in milliseconds since the epoch. */
async function* pages(query: Readonly<Record<string, string>>, paging: Paging): AsyncGenerator<Step, number> {
  const { cursorAt, options, interval, deps } = paging;
  const headers = options.apiKey ? { apikey: options.apiKey } : {};
  let { startIndex, total = 0 } = paging;
  let servedAt = Number.POSITIVE_INFINITY;
  for (;;) {
    const url = new URL(options.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    url.searchParams.set('resultsPerPage', String(PAGE));
    url.searchParams.set('startIndex', String(startIndex));
    const answer = await politeGet(url.href, deps, { headers, maxBytes: MAX_PAGE_BYTES, interval });
    const json = jsonOf(answer);
    servedAt = Math.min(servedAt, Stamped.safeParse(json).data?.timestamp ?? servedAt);
    const head = readNvdHead(json);
    if (!head.ok) throw new SourceError(`${nameOf(url.href)} returned no ${head.problem}`);
    const { totalResults, vulnerabilities } = head.page;
    // A record that is modified again leaves its window, and later ones move up: steps back by the number of removed records.
    const left = Math.min(startIndex, total - totalResults);
    total = totalResults;
    if (left > 0) {
      startIndex -= left;
      continue;
    }
    yield* nvdSteps(vulnerabilities, {
      total: totalResults,
      cursorAt: (read) => cursorAt(startIndex + read, totalResults),
    });
    startIndex += vulnerabilities.length;
    if (startIndex >= totalResults) return servedAt;
    // An empty page would be requested forever, and must not count as read.
    if (vulnerabilities.length === 0) throw new SourceError(`${nameOf(url.href)} returned a page without records`);
  }
}

/** Splits a page, so that the event loop runs other work in between. */
export function* nvdSteps(
  vulnerabilities: readonly unknown[],
  { total, cursorAt }: { readonly total: number; readonly cursorAt: (read: number) => unknown },
): Generator<Step> {
  for (let from = 0; from < vulnerabilities.length; from += RECORDS_AT_ONCE) {
    const batch = new RecordBatch();
    for (const each of vulnerabilities.slice(from, from + RECORDS_AT_ONCE)) batch.add(readNvdRecord(each));
    yield batch.step(cursorAt(from + batch.size), total);
  }
}

const overlapping = (time: string): string => new Date(Date.parse(time) - OVERLAP_MS).toISOString();
const earlier = (a: string, b: string): string => (a < b ? a : b);
