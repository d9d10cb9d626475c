// Paths of a hub's file in the store, and of the files beside it during a download.
import path from 'node:path';
import { DEFAULT_REVISION, formatReference, type Repository } from './reference.ts';

export interface ModelPaths {
  /** The complete file; only verified files have this path. */
  readonly model: string;
  /** Facts of the complete file. */
  readonly note: string;
  /** The bytes received so far. */
  readonly part: string;
  /** Facts of the file that the part belongs to. */
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

/** `<dir>/<owner>/<repo>`; other revisions than the default have their own folder `<repo>@<revision>`. */
export function repositoryFolder(dir: string, { owner, name, revision }: Repository): string {
  return path.join(dir, owner, revision === DEFAULT_REVISION ? name : `${name}@${encodeURIComponent(revision)}`);
}

/** The last listing of a repository, so that selecting a file again needs no request. */
export function listingPath(dir: string, repository: Repository): string {
  return path.join(repositoryFolder(dir, repository), '.listing.json');
}

/** The reference of a stored file, by its path relative to the store; undefined outside a repository's folder. */
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
