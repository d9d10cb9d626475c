// OSV by ecosystem, including GitHub's advisories: the archive once, then the records in the list of changes.
// https://google.github.io/osv.dev/data/
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { readOsvRecord } from '@strata/advisories';
import { parse } from 'csv-parse';
import { z } from 'zod';
import { readConcurrently } from '../read-concurrently.ts';
import { type AdvisorySource, RecordBatch, readRecord, type SourceDeps, SourceError, type Step } from '../source.ts';
import { downloadedSteps } from './archive-steps.ts';
import { download, exists } from './downloads.ts';
import { nameOf, politeGet } from './polite-get.ts';

export interface OsvOptions {
  /** `https://osv-vulnerabilities.storage.googleapis.com`. */
  readonly baseUrl: string;
  /** OSV names: `npm`, `Packagist`. */
  readonly ecosystems: readonly string[];
  readonly everyMs: number;
}

const MAX_ARCHIVE_BYTES = 4 * 1024 ** 3;
const MAX_LIST_BYTES = 256 * 1024 * 1024;
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const RECORDS_AT_ONCE = 50;
/** Records are listed in batches, sometimes out of order and many with the same second: the last hours are checked again. */
const OVERLAP_MS = 6 * 3_600_000;
/** Limit of remembered records; those above it are read again. */
const MAX_RECENT = 5_000;
/** With more changes the archive is cheaper. */
const MANY_CHANGES = 2_000;

/** By ecosystem, the time up to which records were read; `entry` is the position in an archive in progress. */
const Cursor = z.object({
  since: z.record(z.string(), z.string()),
  /** By ecosystem, the records of the last hours that were read: id and modification time. */
  recent: z.record(z.string(), z.record(z.string(), z.string())).default({}),
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
    async *sync(stored, deps) {
      let cursor: Cursor = Cursor.safeParse(stored).data ?? { since: {}, recent: {} };
      let missing = 0;
      for (const ecosystem of options.ecosystems) {
        const changes = await listChanges(ecosystem, { options, deps });
        if (!changes) {
          missing += 1;
          const batch = new RecordBatch();
          batch.add({ record: null, problem: `${ecosystem}: nothing is published for it` });
          yield batch.step(cursor);
          continue;
        }
        for await (const step of ecosystemSteps(ecosystem, { cursor, changes }, { options, deps })) {
          cursor = step.cursor as Cursor;
          yield step;
        }
      }
      if (missing > 0 && missing === options.ecosystems.length)
        throw new SourceError(`${nameOf(options.baseUrl)} publishes nothing for ${options.ecosystems.join(', ')}`);
      return cursor;
    },
  };
}

interface Context {
  readonly options: OsvOptions;
  readonly deps: SourceDeps;
}

async function* ecosystemSteps(
  ecosystem: string,
  { cursor, changes }: { readonly cursor: Cursor; readonly changes: readonly Change[] },
  context: Context,
): AsyncGenerator<Step> {
  const newest = changes[0]?.modified ?? '';
  const since = cursor.since[ecosystem];
  const recent = cursor.recent[ecosystem] ?? {};
  const resumed = cursor.archive?.ecosystem === ecosystem ? cursor.archive : undefined;
  const isNew = ({ id, modified }: Change) =>
    since === undefined || modified > since || (modified > overlapping(since) && recent[id] !== modified);
  const fresh = changes.filter(isNew);
  if (resumed || since === undefined || fresh.length > MANY_CHANGES) {
    yield* readArchive(ecosystem, { cursor, resumed, newest, changes }, context);
  } else {
    // Oldest first: everything before the cursor's time has been read.
    yield* readChanges(ecosystem, fresh.reverse(), cursor, context);
  }
}

/** Newest first; undefined for an unknown ecosystem. Excludes malware and withdrawn test records, which have other prefixes. */
async function listChanges(ecosystem: string, { options, deps }: Context): Promise<Change[] | undefined> {
  const url = `${options.baseUrl}/${encodeURIComponent(ecosystem)}/modified_id.csv`;
  const answer = await politeGet(url, deps, { maxBytes: MAX_LIST_BYTES, also: [404] });
  if (answer.status === 404) return undefined;
  const changes: Change[] = [];
  // The list of a large ecosystem takes a second: streamed, so that the event loop runs other work.
  const rows = Readable.from(piecesOf(answer.body)).pipe(parse({ relax_column_count: true, max_record_size: 1_000 }));
  try {
    for await (const [modified = '', id = ''] of rows as AsyncIterable<string[]>) {
      const at = Date.parse(modified);
      if (!Number.isNaN(at) && isVulnerability(id)) changes.push({ modified: new Date(at).toISOString(), id });
    }
  } catch (cause) {
    throw new SourceError(`${nameOf(url)} is not CSV`, { cause });
  }
  if (changes.length === 0) throw new SourceError(`${nameOf(url)} is not a list of changes`);
  return changes.sort((a, b) => (a.modified < b.modified ? 1 : -1));
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let from = 0; from < body.length; from += PIECE_BYTES) yield body.subarray(from, from + PIECE_BYTES);
}

interface ArchiveReading {
  readonly cursor: Cursor;
  readonly resumed: Cursor['archive'];
  readonly newest: string;
  readonly changes: readonly Change[];
}

async function* readArchive(
  ecosystem: string,
  { cursor, resumed, newest, changes }: ArchiveReading,
  { options, deps }: Context,
): AsyncGenerator<Step> {
  const { directory, signal } = deps;
  const file = path.join(directory, `osv-${ecosystem.replaceAll(/[^A-Za-z0-9]/g, '-')}.zip`);
  const url = `${options.baseUrl}/${encodeURIComponent(ecosystem)}/all.zip`;
  // A file here belongs to the sync in progress: it is removed after it was read.
  const isResumed = resumed !== undefined && (await exists(file));
  if (!isResumed) await download(url, file, { maxBytes: MAX_ARCHIVE_BYTES }, deps);
  const since = resumed?.since ?? notAfter(newest, deps);
  yield* downloadedSteps(file, {
    read: readOsvRecord,
    isWanted: (name) => name.endsWith('.json') && isVulnerability(name),
    from: isResumed ? resumed.entry : 0,
    cursorAt: (entry) => ({ ...cursor, archive: { ecosystem, entry, since } }) satisfies Cursor,
    signal,
  });
  const { archive: _, ...rest } = cursor;
  // Records that changed while the archive was read are newer than those in it.
  const held = resumed ? changes.filter(({ modified }) => modified <= since) : changes;
  yield new RecordBatch().step(readUpTo(rest, ecosystem, { since, read: held }));
  await rm(file, { force: true });
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
    // Further records with the same time are still unread.
    const position = last === next ? new Date(Date.parse(last) - 1).toISOString() : last;
    const since = latest(notAfter(position, context.deps), cursor.since[ecosystem]);
    cursor = readUpTo(cursor, ecosystem, { since, read: batch });
    yield records.step(cursor, changes.length);
  }
}

function readRecords(ecosystem: string, changes: readonly Change[], { options, deps }: Context) {
  return readConcurrently(changes, async ({ id }) => {
    const url = `${options.baseUrl}/${encodeURIComponent(ecosystem)}/${encodeURIComponent(id)}.json`;
    const answer = await politeGet(url, deps, { maxBytes: MAX_RECORD_BYTES, also: [404] });
    if (answer.status === 404) return { record: null, problem: `${id}: not found` };
    return readRecord(answer.body, id, readOsvRecord);
  });
}

function readUpTo(
  cursor: Cursor,
  ecosystem: string,
  { since, read }: { readonly since: string; readonly read: readonly Change[] },
): Cursor {
  const known = Object.entries(cursor.recent[ecosystem] ?? {}).map(([id, modified]) => ({ id, modified }));
  const recent = [...known, ...read].filter(({ modified }) => modified > overlapping(since)).slice(-MAX_RECENT);
  return {
    ...cursor,
    since: { ...cursor.since, [ecosystem]: since },
    recent: { ...cursor.recent, [ecosystem]: Object.fromEntries(recent.map(({ id, modified }) => [id, modified])) },
  };
}

const overlapping = (time: string): string => new Date(Date.parse(time) - OVERLAP_MS).toISOString();

/** A future date would hide everything published until then. */
function notAfter(time: string, { now }: SourceDeps): string {
  const present = now().toISOString();
  return time < present ? time : present;
}

/** Repeated reads do not move the cursor back. */
const latest = (time: string, known: string | undefined): string =>
  known !== undefined && known > time ? known : time;

/** `MAL-…` records describe malicious packages. */
const isVulnerability = (name: string): boolean =>
  /^[A-Za-z][A-Za-z0-9-]{2,99}(?:\.json)?$/.test(name) && !name.startsWith('MAL-');
