// Downloads one file: resumes a partial download, verifies the complete file, and moves it into the store atomically.

import { mkdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import { PartFile } from '@strata/files';
import { formatSize, ModelStoreError, onDisk } from './error.ts';
import { ggufOnly, hashFile } from './gguf-file.ts';
import { type FileAnswer, fileAddress, openFile } from './hub.ts';
import type { Hub } from './hub-request.ts';
import { formatReference, type Repository } from './reference.ts';
import { type RetryPolicy, TransientError, withRetries } from './retry.ts';
import type { HubFile } from './select-files.ts';
import { type ModelPaths, type Note, noteOf } from './store-files.ts';

type Part = PartFile<Note>;

interface Download {
  readonly hub: Hub;
  readonly repository: Repository;
  /** Its path, and the facts of the repository's listing. */
  readonly file: HubFile;
  readonly paths: ModelPaths;
  /** Facts of the stored file; it is replaced only if the hub has another version. */
  readonly current?: Note | undefined;
  readonly reporter: Reporter;
  readonly retry: RetryPolicy;
}

/**
 * Returns whether a file was stored; false: the stored file is the hub's current version. Call under the lock. Rejects
 * with ModelStoreError, and with the signal's reason; received bytes are kept for the next download, unless they are
 * `corrupt`.
 */
export async function download(job: Download): Promise<boolean> {
  await using part: Part = await PartFile.open(job.paths.model, { readNote: noteOf, onDisk });
  const outcome = await withRetries(
    () => receive(part, job),
    job.retry,
    () => part.sizeBytes,
  );
  if (outcome.kind === 'unchanged') return false;
  const sha256 = await checkedHash(part, job);
  if (part.note) await part.remember({ ...part.note, sizeBytes: part.sizeBytes, sha256 });
  await part.complete(job.paths.note);
  job.reporter.end({ ...progressOf(part, job), isResumed: outcome.isResumed });
  return true;
}

type Outcome = { readonly kind: 'unchanged' } | { readonly kind: 'received'; readonly isResumed: boolean };

/** Receives over one connection. */
async function receive(part: Part, job: Download): Promise<Outcome> {
  const { hub, repository, file, current, retry } = job;
  // Bytes from another hub are kept until this one sends a replacement.
  const note = part.note?.source === sourceOf(job) ? part.note : undefined;
  // Interrupted between the last byte and the verification. With `refresh`, the part may be outdated.
  if (note && part.sizeBytes === note.sizeBytes && !current) return { kind: 'received', isResumed: true };
  await using answer = await openFile(hub, {
    repository,
    file: file.path,
    held: note && { bytes: part.sizeBytes, etag: note.etag, sha256: note.sha256 },
    unlessSha256: current?.sha256,
    signal: retry.signal,
  });
  if (answer.kind === 'unchanged' || hasTagOf(answer, current)) return { kind: 'unchanged' };
  const offer = offerOf(answer, job);
  if (answer.kind !== 'full' && !continues(answer, part)) {
    await part.discard();
    throw new TransientError(`${nameOf(job)} changed while it was being downloaded`);
  }
  const isResumed = answer.kind !== 'full' && part.sizeBytes > 0;
  // The recorded tag and facts take precedence; the offer only adds missing ones.
  const known = isResumed ? { ...offer, ...part.note } : offer;
  if (isResumed) await part.remember(known);
  if (answer.kind === 'range-end') await part.remember({ ...known, sizeBytes: part.sizeBytes });
  else await keep(answer, { part, job, note: known, isResumed });
  return { kind: 'received', isResumed };
}

interface Arrival {
  readonly part: Part;
  readonly job: Download;
  readonly note: Note;
  readonly isResumed: boolean;
}

async function keep(answer: FileAnswer, { part, job, note, isResumed }: Arrival): Promise<void> {
  const sizeBytes = note.sizeBytes;
  if (sizeBytes !== undefined && isResumed) await checkFreeSpace(part, sizeBytes - part.sizeBytes);
  let isBegun = isResumed;
  for await (const chunk of isResumed ? answer.chunks() : ggufOnly(answer.chunks(), nameOf(job))) {
    // Only after the first valid chunk: an error page does not cost the bytes received before.
    if (!isBegun) {
      const folder = mkdir(path.dirname(part.path), { recursive: true });
      await onDisk(`create the folder of ${path.basename(part.path)}`, folder);
      await part.begin(note);
      if (sizeBytes !== undefined) await checkFreeSpace(part, sizeBytes);
      isBegun = true;
    }
    if (part.sizeBytes + chunk.length > (sizeBytes ?? Number.POSITIVE_INFINITY)) {
      throw await corrupt(part, `${nameOf(job)} is longer than the announced ${sizeBytes} bytes`);
    }
    await part.append(chunk);
    job.reporter.report({ ...progressOf(part, job), isResumed });
  }
  if (sizeBytes === undefined) await part.remember({ ...note, sizeBytes: part.sizeBytes });
  else if (part.sizeBytes < sizeBytes) {
    throw new TransientError(`${nameOf(job)} ended after ${part.sizeBytes} of ${sizeBytes} bytes`);
  }
}

/** Rejects with `disk` when the remaining bytes do not fit. */
async function checkFreeSpace(part: Part, bytes: number): Promise<void> {
  const disk = await statfs(path.dirname(part.path)).catch(() => undefined);
  const free = disk ? disk.bavail * disk.bsize : Number.POSITIVE_INFINITY;
  if (bytes <= free) return;
  const needs = `${path.basename(part.path, '.part')} needs ${formatSize(bytes)} more, and ${formatSize(free)} are free`;
  throw new ModelStoreError('disk', `the disk is full: ${needs}`);
}

/** The offered file as a note; throws `corrupt` where hub, listing and server contradict each other. Reads no bytes. */
function offerOf(answer: FileAnswer, job: Download): Note {
  const { file } = job;
  const sizes = [file.sizeBytes, answer.hubSizeBytes, answer.serverSizeBytes].filter((size) => size !== undefined);
  const sizeBytes = sizes[0];
  if (sizes.some((size) => size !== sizeBytes)) {
    const offer = `${answer.serverSizeBytes ?? answer.hubSizeBytes} bytes of ${answer.contentType}`;
    throw new ModelStoreError(
      'corrupt',
      `${nameOf(job)} should have ${sizeBytes} bytes, but the server offers ${offer}`,
    );
  }
  if (file.sha256 !== undefined && answer.sha256 !== undefined && file.sha256 !== answer.sha256) {
    const message = `${nameOf(job)} differs from the file in the repository's listing; try again later`;
    throw new ModelStoreError('corrupt', message);
  }
  const sha256 = answer.sha256 ?? file.sha256;
  return {
    source: sourceOf(job),
    ...(sizeBytes === undefined ? {} : { sizeBytes }),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(answer.etag === undefined ? {} : { etag: answer.etag }),
  };
}

/** Whether the answer continues the received bytes, or the received bytes are complete. */
function continues(answer: FileAnswer, part: Part): boolean {
  const { sizeBytes, sha256, etag } = part.note ?? {};
  const size = answer.serverSizeBytes ?? answer.hubSizeBytes;
  if (answer.kind === 'remainder' && answer.fromBytes !== part.sizeBytes) return false;
  if (answer.kind === 'range-end' && (size !== part.sizeBytes || size === 0)) return false;
  if (size !== undefined && sizeBytes !== undefined && size !== sizeBytes) return false;
  if (sha256 !== undefined && answer.sha256 !== undefined) return sha256 === answer.sha256;
  return etag === undefined || answer.etag === undefined || etag === answer.etag;
}

/** Where the hub publishes no hash, the entity tag identifies the version. */
function hasTagOf(answer: FileAnswer, current: Note | undefined): boolean {
  return (
    current?.etag !== undefined &&
    answer.kind === 'full' &&
    answer.sha256 === undefined &&
    answer.etag === current.etag &&
    answer.serverSizeBytes === current.sizeBytes
  );
}

/** Hashes the bytes on the disk, not the received ones. */
async function checkedHash(part: Part, job: Download): Promise<string> {
  const sha256 = await hashFile(part.path, job.retry.signal);
  const expected = part.note?.sha256;
  if (expected !== undefined && expected !== sha256) {
    throw await corrupt(part, `${nameOf(job)} has SHA-256 ${sha256}, but ${expected} was announced`);
  }
  return sha256;
}

async function corrupt(part: Part, message: string): Promise<ModelStoreError> {
  await part.discard();
  return new ModelStoreError('corrupt', `${message}; the received bytes were removed`);
}

function progressOf(part: Part, job: Download) {
  return { file: job.file.path, receivedBytes: part.sizeBytes, totalBytes: part.note?.sizeBytes };
}

function sourceOf({ hub, repository, file }: Download): string {
  return fileAddress(hub, repository, file.path).href;
}

function nameOf({ repository, file }: Download): string {
  return formatReference(repository, file.path);
}

export interface DownloadProgress {
  /** Inside the repository. */
  readonly file: string;
  /** Of this file, including bytes received before this connection. */
  readonly receivedBytes: number;
  /** Undefined if no server announced it. */
  readonly totalBytes: number | undefined;
  /** Some of the bytes were received before this connection. */
  readonly isResumed: boolean;
}

interface Reporter {
  /** Drops reports within the interval. */
  report(progress: DownloadProgress): void;
  /** Always reported. */
  end(progress: DownloadProgress): void;
}

const REPORT_INTERVAL_MS = 100;

export function createReporter(onProgress: (progress: DownloadProgress) => void = () => {}): Reporter {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    report(progress) {
      const now = performance.now();
      if (now - reportedAt < REPORT_INTERVAL_MS) return;
      reportedAt = now;
      onProgress(progress);
    },
    end: onProgress,
  };
}
