// One file from the hub to the disk: resumed where it was cut off, checked as a whole, put in place at once.

import { ModelStoreError } from './error.ts';
import { ggufOnly, hashFile } from './gguf-file.ts';
import { type FileAnswer, fileAddress, openFile } from './hub.ts';
import type { Hub } from './hub-request.ts';
import type { Note } from './json-file.ts';
import { PartFile } from './part-file.ts';
import type { ModelPaths } from './paths.ts';
import type { Reporter } from './progress.ts';
import { formatReference, type Repository } from './reference.ts';
import { PassingFailure, type Patience, persist } from './retry.ts';
import type { HubFile } from './select-files.ts';

export interface Download {
  readonly hub: Hub;
  readonly repository: Repository;
  /** Its path, and what the repository's list says of it. */
  readonly file: HubFile;
  readonly places: ModelPaths;
  /** Of the file that is here; it is replaced only if the hub has another. */
  readonly current?: Note | undefined;
  readonly reporter: Reporter;
  readonly patience: Patience;
}

/**
 * Whether a file was put in place; false: the one that is here is what the hub has. Under the lock. Rejects with ModelStoreError,
 * and with the signal's reason; what came stays for the next time, unless it is `corrupt`.
 */
export async function download(job: Download): Promise<boolean> {
  await using part = await PartFile.open(job.places);
  const outcome = await persist(
    () => receive(part, job),
    job.patience,
    () => part.sizeBytes,
  );
  if (outcome.kind === 'same') return false;
  const sha256 = await checkedHash(part, job);
  await part.complete(sha256);
  job.reporter.end({ ...progressOf(part, job), isResumed: outcome.isResumed });
  return true;
}

type Outcome = { readonly kind: 'same' } | { readonly kind: 'received'; readonly isResumed: boolean };

/** One connection's worth. */
async function receive(part: PartFile, job: Download): Promise<Outcome> {
  const { hub, repository, file, current, patience } = job;
  // Bytes of another hub are replaced once this one has something to put in their place.
  const note = part.note?.source === sourceOf(job) ? part.note : undefined;
  // Cut off between the last byte and the check. Where news are asked for, it may be outdated.
  if (note && part.isComplete && !current) return { kind: 'received', isResumed: true };
  await using answer = await openFile(hub, {
    repository,
    file: file.path,
    held: note && { bytes: part.sizeBytes, etag: note.etag, sha256: note.sha256 },
    unlessSha256: current?.sha256,
    signal: patience.signal,
  });
  if (answer.kind === 'same' || hasTagOf(answer, current)) return { kind: 'same' };
  const offer = offerOf(answer, job);
  if (answer.kind !== 'whole' && !continues(answer, part)) {
    await part.discard();
    throw new PassingFailure(`${nameOf(job)} changed while it was being downloaded`);
  }
  const isResumed = answer.kind !== 'whole' && part.sizeBytes > 0;
  // The tag stays the one of the server that sent the first bytes; what was not told before is.
  const known = isResumed ? { ...offer, ...part.note } : offer;
  if (isResumed) await part.remember(known);
  if (answer.kind === 'beyond') await part.remember({ ...known, sizeBytes: part.sizeBytes });
  else await keep(answer, { part, job, note: known, isResumed });
  return { kind: 'received', isResumed };
}

interface Arrival {
  readonly part: PartFile;
  readonly job: Download;
  readonly note: Note;
  readonly isResumed: boolean;
}

async function keep(answer: FileAnswer, { part, job, note, isResumed }: Arrival): Promise<void> {
  const sizeBytes = note.sizeBytes;
  if (sizeBytes !== undefined && isResumed) await part.needRoom(sizeBytes - part.sizeBytes);
  let isBegun = isResumed;
  for await (const chunk of isResumed ? answer.chunks() : ggufOnly(answer.chunks(), nameOf(job))) {
    // Only now: a page of words in the model's place does not cost what was here.
    if (!isBegun) {
      await part.begin(note);
      if (sizeBytes !== undefined) await part.needRoom(sizeBytes);
      isBegun = true;
    }
    if (part.sizeBytes + chunk.length > (sizeBytes ?? Number.POSITIVE_INFINITY)) {
      throw await corrupt(part, `${nameOf(job)} is longer than the ${sizeBytes} bytes that were announced`);
    }
    await part.append(chunk);
    job.reporter.report({ ...progressOf(part, job), isResumed });
  }
  if (sizeBytes === undefined) await part.remember({ ...note, sizeBytes: part.sizeBytes });
  else if (part.sizeBytes < sizeBytes) {
    throw new PassingFailure(`${nameOf(job)} broke off after ${part.sizeBytes} of ${sizeBytes} bytes`);
  }
}

/** What is on offer, as a note; throws `corrupt` where hub, list and server contradict each other. Touches no bytes. */
function offerOf(answer: FileAnswer, job: Download): Note {
  const { file } = job;
  const sizes = [file.sizeBytes, answer.toldBytes, answer.sentBytes].filter((size) => size !== undefined);
  const sizeBytes = sizes[0];
  if (sizes.some((size) => size !== sizeBytes)) {
    const offer = `${answer.sentBytes ?? answer.toldBytes} bytes of ${answer.contentType}`;
    throw new ModelStoreError('corrupt', `${nameOf(job)} should have ${sizeBytes} bytes, but ${offer} are offered`);
  }
  if (file.sha256 !== undefined && answer.sha256 !== undefined && file.sha256 !== answer.sha256) {
    const message = `${nameOf(job)} is not the file that its repository lists; try again in a while`;
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

/** Whether the rest that is offered is the rest of what is here, or what is here is all. */
function continues(answer: FileAnswer, part: PartFile): boolean {
  const { sizeBytes, sha256, etag } = part.note ?? {};
  const size = answer.sentBytes ?? answer.toldBytes;
  if (answer.kind === 'rest' && answer.fromBytes !== part.sizeBytes) return false;
  if (answer.kind === 'beyond' && (size !== part.sizeBytes || size === 0)) return false;
  if (size !== undefined && sizeBytes !== undefined && size !== sizeBytes) return false;
  if (sha256 !== undefined && answer.sha256 !== undefined) return sha256 === answer.sha256;
  return etag === undefined || answer.etag === undefined || etag === answer.etag;
}

/** Where the hub tells no hash, the tag is what says that a file is still the same. */
function hasTagOf(answer: FileAnswer, current: Note | undefined): boolean {
  return (
    current?.etag !== undefined &&
    answer.kind === 'whole' &&
    answer.sha256 === undefined &&
    answer.etag === current.etag &&
    answer.sentBytes === current.sizeBytes
  );
}

/** Read again from the disk: what is vouched for is what lies there. */
async function checkedHash(part: PartFile, job: Download): Promise<string> {
  const sha256 = await hashFile(part.path, job.patience.signal);
  const expected = part.note?.sha256;
  if (expected !== undefined && expected !== sha256) {
    throw await corrupt(part, `${nameOf(job)} has SHA-256 ${sha256}, but ${expected} was announced`);
  }
  return sha256;
}

async function corrupt(part: PartFile, message: string): Promise<ModelStoreError> {
  await part.discard();
  return new ModelStoreError('corrupt', `${message}; what came was removed`);
}

function progressOf(part: PartFile, job: Download) {
  return { file: job.file.path, receivedBytes: part.sizeBytes, totalBytes: part.note?.sizeBytes };
}

function sourceOf({ hub, repository, file }: Download): string {
  return fileAddress(hub, repository, file.path).href;
}

function nameOf({ repository, file }: Download): string {
  return formatReference(repository, file.path);
}
