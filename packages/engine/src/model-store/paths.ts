// Where a hub's file lies in the store, and what lies beside it while it comes.
import path from 'node:path';
import { DEFAULT_REVISION, formatReference, type Repository } from './reference.ts';

export interface ModelPaths {
  /** The whole file; nothing is ever here that was not checked. */
  readonly model: string;
  /** What is known of the whole file. */
  readonly note: string;
  /** What has come so far. */
  readonly part: string;
  /** What the bytes of the part are of. */
  readonly partNote: string;
  readonly lock: string;
}

export const NOTE_SUFFIX = '.json';
export const PART_SUFFIX = '.part';

export function modelPathsOf(dir: string, repository: Repository, file: string): ModelPaths {
  const model = path.join(repositoryFolder(dir, repository), ...file.split('/'));
  return {
    model,
    note: `${model}${NOTE_SUFFIX}`,
    part: `${model}${PART_SUFFIX}`,
    partNote: `${model}${PART_SUFFIX}${NOTE_SUFFIX}`,
    lock: path.join(dir, '.locks', `${path.relative(dir, model)}.lock`),
  };
}

/** `<dir>/<owner>/<repo>`; revisions other than the default stand apart, as `<repo>@<revision>`, for their files differ. */
export function repositoryFolder(dir: string, { owner, name, revision }: Repository): string {
  return path.join(dir, owner, revision === DEFAULT_REVISION ? name : `${name}@${encodeURIComponent(revision)}`);
}

/** What the last listing of a repository said, so that a choice made from it needs no network again. */
export function listingPath(dir: string, repository: Repository): string {
  return path.join(repositoryFolder(dir, repository), '.listing.json');
}

/** The reference of a file of the store, by its name relative to it; undefined where it lies in no repository's folder. */
export function referenceOf(name: string): string | undefined {
  const [owner, folder, ...file] = name.split('/');
  if (!owner || !folder || file.length === 0) return undefined;
  const [repository = '', revision] = folder.split('@');
  try {
    return formatReference(
      { owner, name: repository, revision: revision === undefined ? DEFAULT_REVISION : decodeURIComponent(revision) },
      file.join('/'),
    );
  } catch {
    return undefined;
  }
}
