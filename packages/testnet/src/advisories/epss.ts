// The daily file of exploit prediction scores. https://www.first.org/epss/data_stats
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Library } from './library.ts';
import { type Handler, NOT_FOUND } from './publisher.ts';

export const EPSS_PATH = '/epss_scores-current.csv.gz';
const compress = promisify(gzip);
/** So many lines are made before others get their turn. */
const LINES_AT_ONCE = 10_000;

export function epssHandler(library: Library): Handler {
  let made: { readonly revision: number; readonly file: Promise<Buffer> } | undefined;
  return async (url) => {
    const today = library.now().toISOString().slice(0, 10);
    const dated = `/epss_scores-${today}.csv.gz`;
    if (url.pathname === EPSS_PATH) return { status: 302, headers: { location: dated } };
    if (url.pathname !== dated) return NOT_FOUND;
    if (made?.revision !== library.revision) made = { revision: library.revision, file: fileOf(library, today) };
    const headers = {
      'content-type': 'application/gzip',
      'last-modified': new Date(`${today}T12:55:00Z`).toUTCString(),
    };
    return { status: 200, headers, body: await made.file, isTagged: true };
  };
}

async function fileOf(library: Library, today: string): Promise<Buffer> {
  const scored: { readonly id: string; readonly score: number; readonly isMalformed: boolean }[] = [];
  for (const { facts } of library.all()) {
    if (!facts.id.startsWith('CVE-') || facts.isRejected) continue;
    scored.push({ id: facts.id, score: library.scoreOf(facts), isMalformed: facts.isMalformed === true });
    if (scored.length % LINES_AT_ONCE === 0) await turn();
  }
  const sorted = Float64Array.from(scored, ({ score }) => score).sort();
  const lines = [`#model_version:v2025.03.14,score_date:${today}T12:55:00Z`, 'cve,epss,percentile'];
  for (const { id, score, isMalformed } of scored) {
    const percentile = rankOf(sorted, score) / sorted.length;
    lines.push(isMalformed ? `${id},n/a` : `${id},${score.toFixed(5)},${percentile.toFixed(5)}`);
    if (lines.length % LINES_AT_ONCE === 0) await turn();
  }
  return compress(`${lines.join('\n')}\n`);
}

/** How many score the same or less. */
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

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
