// OSV by ecosystem, GitHub's advisories among them: the archive once, then the records that the list of changes names.
// https://google.github.io/osv.dev/data/
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { readOsvRecord } from '@strata/advisories';
import { parse } from 'csv-parse';
import { z } from 'zod';
import { downloadedSteps } from './archive-steps.ts';
import { download, isThere } from './downloads.ts';
import { nameOf, politeGet } from './polite-get.ts';
import { readSideBySide } from './side-by-side.ts';
import { type AdvisorySource, RecordBatch, readRecord, SourceError, type SourceParts, type Step } from './source.ts';

export interface OsvOptions {
  /** `https://osv-vulnerabilities.storage.googleapis.com`. */
  readonly baseUrl: string;
  /** As OSV calls them: `npm`, `Packagist`. */
  readonly ecosystems: readonly string[];
  readonly everyMs: number;
}

const MAX_ARCHIVE_BYTES = 4 * 1024 ** 3;
const MAX_LIST_BYTES = 256 * 1024 * 1024;
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const RECORDS_AT_ONCE = 50;
/** With more changes than this the archive is the smaller work. */
const MANY_CHANGES = 2_000;

/** By ecosystem, up to when its records were read; an archive under way stands at `entry`. */
const Cursor = z.object({
  since: z.record(z.string(), z.string()),
  archive: z.object({ ecosystem: z.string(), entry: z.int().min(0), since: z.string() }).optional(),
});
type Cursor = z.infer<typeof Cursor>;

interface Change {
  readonly modified: string;
  readonly id: string;
}

export function osvSource(options: OsvOptions): AdvisorySource {
  return {
    name: 'osv',
    everyMs: options.everyMs,
    async *sync(stored, parts) {
      let cursor: Cursor = Cursor.safeParse(stored).data ?? { since: {} };
      for (const ecosystem of options.ecosystems) {
        for await (const step of ecosystemSteps(ecosystem, cursor, { options, parts })) {
          cursor = step.cursor as Cursor;
          yield step;
        }
      }
      return cursor;
    },
  };
}

interface Context {
  readonly options: OsvOptions;
  readonly parts: SourceParts;
}

async function* ecosystemSteps(ecosystem: string, cursor: Cursor, context: Context): AsyncGenerator<Step> {
  const changes = await listChanges(ecosystem, context);
  const newest = changes?.[0]?.modified;
  if (changes === undefined || newest === undefined) {
    const batch = new RecordBatch();
    batch.add({ record: null, problem: `${ecosystem}: nothing is published of it` });
    return yield batch.step(cursor);
  }
  const since = cursor.since[ecosystem];
  const underWay = cursor.archive?.ecosystem === ecosystem ? cursor.archive : undefined;
  const isNew = (change: Change) => since === undefined || change.modified > since;
  const fresh = changes.filter(isNew);
  if (underWay || since === undefined || fresh.length > MANY_CHANGES) {
    yield* readArchive(ecosystem, { cursor, underWay, newest }, context);
  } else {
    // Oldest first, so that the place in time is one before which everything was read.
    yield* readChanges(ecosystem, fresh.reverse(), cursor, context);
  }
}

/** Newest first; undefined for an ecosystem that is not there. Malware and withdrawn test records are told under other prefixes and are no vulnerabilities. */
async function listChanges(ecosystem: string, { options, parts }: Context): Promise<Change[] | undefined> {
  const url = `${options.baseUrl}/${encodeURIComponent(ecosystem)}/modified_id.csv`;
  const answer = await politeGet(url, parts, { maxBytes: MAX_LIST_BYTES, also: [404] });
  if (answer.status === 404) return undefined;
  const changes: Change[] = [];
  // A list of a great ecosystem takes a second: read as it flows, so that others have their turn.
  const rows = Readable.from(piecesOf(answer.body)).pipe(parse({ relax_column_count: true, max_record_size: 1_000 }));
  try {
    for await (const [modified = '', id = ''] of rows as AsyncIterable<string[]>) {
      const at = Date.parse(modified);
      if (!Number.isNaN(at) && isVulnerability(id)) changes.push({ modified: new Date(at).toISOString(), id });
    }
  } catch (cause) {
    throw new SourceError(`${nameOf(url)} is no CSV`, { cause });
  }
  return changes.sort((a, b) => (a.modified < b.modified ? 1 : -1));
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let from = 0; from < body.length; from += PIECE_BYTES) yield body.subarray(from, from + PIECE_BYTES);
}

async function* readArchive(
  ecosystem: string,
  { cursor, underWay, newest }: { cursor: Cursor; underWay: Cursor['archive']; newest: string },
  { options, parts }: Context,
): AsyncGenerator<Step> {
  const { directory, signal } = parts;
  const file = path.join(directory, `osv-${ecosystem.replaceAll(/[^A-Za-z0-9]/g, '-')}.zip`);
  const url = `${options.baseUrl}/${encodeURIComponent(ecosystem)}/all.zip`;
  // It is removed when it was read: one that lies there is that of the sync under way.
  const goesOn = underWay !== undefined && (await isThere(file));
  if (!goesOn) await download(url, file, { maxBytes: MAX_ARCHIVE_BYTES }, parts);
  const since = underWay?.since ?? newest;
  yield* downloadedSteps(file, {
    read: readOsvRecord,
    isWanted: (name) => name.endsWith('.json') && isVulnerability(name),
    from: goesOn ? underWay.entry : 0,
    place: (entry) => ({ ...cursor, archive: { ecosystem, entry, since } }) satisfies Cursor,
    signal,
  });
  await rm(file, { force: true });
  const { archive: _, ...others } = cursor;
  yield new RecordBatch().step(readUpTo(others, ecosystem, since));
}

async function* readChanges(
  ecosystem: string,
  changes: readonly Change[],
  start: Cursor,
  context: Context,
): AsyncGenerator<Step> {
  let cursor = start;
  for (let from = 0; from < changes.length; from += RECORDS_AT_ONCE) {
    const batch = changes.slice(from, from + RECORDS_AT_ONCE);
    const records = await readRecords(ecosystem, batch, context);
    const next = changes[from + RECORDS_AT_ONCE]?.modified;
    const last = batch.at(-1)?.modified ?? '';
    // Others of the same moment are still to be read.
    const place = last === next ? new Date(Date.parse(last) - 1).toISOString() : last;
    cursor = readUpTo(cursor, ecosystem, place);
    yield records.step(cursor, changes.length);
  }
}

function readRecords(ecosystem: string, changes: readonly Change[], { options, parts }: Context) {
  return readSideBySide(changes, async ({ id }) => {
    const url = `${options.baseUrl}/${encodeURIComponent(ecosystem)}/${encodeURIComponent(id)}.json`;
    const answer = await politeGet(url, parts, { maxBytes: MAX_RECORD_BYTES, also: [404] });
    if (answer.status === 404) return { record: null, problem: `${id}: not there` };
    return readRecord(answer.body, id, readOsvRecord);
  });
}

const readUpTo = (cursor: Cursor, ecosystem: string, time: string): Cursor => ({
  ...cursor,
  since: { ...cursor.since, [ecosystem]: time },
});

/** `MAL-…` are packages that are malware themselves. */
const isVulnerability = (name: string): boolean =>
  /^[A-Za-z][A-Za-z0-9-]{2,99}(?:\.json)?$/.test(name) && !name.startsWith('MAL-');
