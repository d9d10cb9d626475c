// Logs in directories, opened, filled and damaged as tests need it, and folders as earlier versions wrote them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it, type TestContext } from 'node:test';
import { crc32 } from 'node:zlib';
import { encodeEntries } from '@strata/receipts';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import * as logs from '../index.ts';
import { openDirectoryLog } from '../ledger-directory.ts';
import { appendAll, upTo } from './conformance.ts';
import { keysOf, leafOf, ORIGIN, VERIFIERS } from './fixture.ts';

/** A test with a directory of its own. */
export const inDirectory = (name: string, check: (directory: string, t: TestContext) => unknown) =>
  it(name, async (t) => {
    await using directory = await temporaryDirectory();
    await check(directory.path, t);
  });

export const openIn = (
  directory: string,
  origin = ORIGIN,
  checkpointCopy?: logs.CheckpointCopy,
  keys = keysOf(2),
): Promise<logs.DatabaseLog> => openDirectoryLog({ directory, origin, keys, checkpointCopy });

/** A second copy of the newest checkpoint, which tests inspect. */
export const memoryCopy = () => ({
  note: '',
  read: async function () {
    return this.note;
  },
  write: async function (note: string) {
    this.note = note;
  },
});

export const sizeOf = (note: string): number => Number(note.split('\n')[1]);

/** For `assert.rejects`. */
export const failsWith = (code: logs.LogErrorCode) => (error: unknown) =>
  error instanceof logs.LogError && error.code === code;

/** Verifies a log, which may be open; the number of its leaves. */
export async function checked(directory: string): Promise<number> {
  await using tables = await logs.openLedgerFile(path.join(directory, 'ledger.db'));
  return (await logs.checkLog({ origin: ORIGIN, keys: keysOf(2), table: tables.log })).size;
}

/** A closed log of so many leaves. */
export async function logOf(directory: string, leaves: number): Promise<void> {
  await using log = await openIn(directory);
  await appendAll(log, upTo(leaves));
}

/** Runs SQL on the rows of a closed or open log. */
export function altered(directory: string, sql: string): void {
  using database = new DatabaseSync(path.join(directory, 'ledger.db'));
  database.exec(sql);
}

/** Flips one bit of a file. */
export async function alter(file: string, at: number): Promise<void> {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

/** The record of a batch in the journal of earlier versions; see folder/read-folder.ts. */
export function journalRecord(first: number, leaves: readonly Uint8Array[]): Buffer {
  const payload = encodeEntries(leaves);
  const header = Buffer.alloc(24);
  header.write('SLr1', 'latin1');
  header.writeUInt32BE(payload.length, 4);
  header.writeBigUInt64BE(BigInt(first), 8);
  header.writeUInt32BE(leaves.length, 16);
  header.writeUInt32BE(crc32(payload, crc32(header.subarray(0, 20))), 20);
  return Buffer.concat([header, payload]);
}

/** Leaves of a full segment of the journal. */
export const SEGMENT_LEAVES = 4096;

export const segmentIn = (directory: string, first = 0): string =>
  path.join(directory, 'journal', String(first).padStart(16, '0'));

/** The folder that an earlier version left of this log: its tiles, as they are served, but the last segment in the journal. */
export async function writeFolder(directory: string, log: logs.Log): Promise<void> {
  await logs.publishLog({ read: (name) => log.read(name), directory, origin: ORIGIN, verifiers: VERIFIERS });
  mkdirSync(path.join(directory, 'journal'));
  const first = Math.max(0, Math.ceil(log.size / SEGMENT_LEAVES) - 1) * SEGMENT_LEAVES;
  const records: Buffer[] = [];
  for (let from = first; from < log.size; from += 100) {
    const leaves = upTo(Math.min(100, log.size - from)).map((at) => leafOf(from + at));
    records.push(journalRecord(from, leaves));
  }
  writeFileSync(segmentIn(directory, first), Buffer.concat(records));
}
