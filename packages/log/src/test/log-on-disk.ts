// Logs in directories, opened, filled and damaged as tests need it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it, type TestContext } from 'node:test';
import { temporaryDirectory } from '../../../../tests/support/temporary-directory.ts';
import { type CheckpointCopy, LogError, type LogErrorCode, openLog, type TileLog } from '../index.ts';
import { appendAll, upTo } from './conformance.ts';
import { ORIGIN, testSigner } from './fixture.ts';

const signer = testSigner();

/** A test with a directory of its own. */
export const inDirectory = (name: string, check: (directory: string, t: TestContext) => unknown) =>
  it(name, async (t) => {
    await using directory = await temporaryDirectory();
    await check(directory.path, t);
  });

export const openIn = (directory: string, origin = ORIGIN, checkpointCopy?: CheckpointCopy): Promise<TileLog> =>
  openLog({ directory, origin, signer, checkpointCopy });

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
export const failsWith = (code: LogErrorCode) => (error: unknown) => error instanceof LogError && error.code === code;

/** A closed log of so many leaves. */
export async function logOf(directory: string, leaves: number): Promise<void> {
  await using log = await openIn(directory);
  await appendAll(log, upTo(leaves));
}

/** Flips one bit of a file. */
export async function alter(file: string, at: number): Promise<void> {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(file, bytes);
}

export const newestSegment = (directory: string): string => {
  const name = readdirSync(path.join(directory, 'journal')).sort().at(-1) ?? assert.fail('no journal');
  return path.join(directory, 'journal', name);
};
