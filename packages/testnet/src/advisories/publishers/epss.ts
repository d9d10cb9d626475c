// The daily file of exploit prediction scores. https://www.first.org/epss/data_stats
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Library } from '../library.ts';
import { type Handler, NOT_FOUND } from './publisher.ts';

export const EPSS_PATH = '/epss_scores-current.csv.gz';
const compress = promisify(gzip);
/** Lines generated between two yields to the event loop. */
const LINES_AT_ONCE = 10_000;
const DAYS_KEPT = 2;

const pathOf = (day: string): string => `/epss_scores-${day}.csv.gz`;

export function epssHandler(library: Library): Handler {
  // By day: a client that was redirected to the file of a day gets it even after the day ended.
  const made = new Map<string, { readonly revision: number; readonly file: Promise<Buffer> }>();
  const fileOfToday = (today: string): Promise<Buffer> => {
    const known = made.get(today);
    if (known?.revision === library.revision) return known.file;
    const file = fileOf(library, today);
    made.set(today, { revision: library.revision, file });
    for (const day of made.keys()) if (made.size > DAYS_KEPT) made.delete(day);
    return file;
  };
  return async (url) => {
    const today = library.now().toISOString().slice(0, 10);
    if (url.pathname === EPSS_PATH) {
      await fileOfToday(today);
      return { status: 302, headers: { location: pathOf(today) } };
    }
    const day = [today, ...made.keys()].find((each) => pathOf(each) === url.pathname);
    if (day === undefined) return NOT_FOUND;
    const headers = {
      'content-type': 'application/gzip',
      'last-modified': new Date(`${day}T12:55:00Z`).toUTCString(),
    };
    const body = await (day === today ? fileOfToday(today) : made.get(day)?.file);
    return body ? { status: 200, headers, body, isTagged: true } : NOT_FOUND;
  };
}

async function fileOf(library: Library, today: string): Promise<Buffer> {
  const scored: { readonly id: string; readonly score: number; readonly isMalformed: boolean }[] = [];
  for (const { facts } of library.all()) {
    if (!facts.id.startsWith('CVE-') || facts.isRejected) continue;
    scored.push({ id: facts.id, score: library.scoreOf(facts), isMalformed: facts.isMalformed === true });
    if (scored.length % LINES_AT_ONCE === 0) await yieldToEventLoop();
  }
  const sorted = Float64Array.from(scored, ({ score }) => score).sort();
  const lines = [`#model_version:v2025.03.14,score_date:${today}T12:55:00Z`, 'cve,epss,percentile'];
  for (const { id, score, isMalformed } of scored) {
    const percentile = rankOf(sorted, score) / sorted.length;
    lines.push(isMalformed ? `${id},n/a` : `${id},${score.toFixed(5)},${percentile.toFixed(5)}`);
    if (lines.length % LINES_AT_ONCE === 0) await yieldToEventLoop();
  }
  return compress(`${lines.join('\n')}\n`);
}

/** Number of records with the same or a lower score. */
function rankOf(sorted: Float64Array, score: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= score) low = middle + 1;
    else high = middle;
  }
  return low;
}

function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
