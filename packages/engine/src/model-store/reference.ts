// Model references: a path to a GGUF file, or a file on a hub. Accepted references are safe in paths and in URLs.
import { ModelStoreError } from './error.ts';

export interface Repository {
  readonly owner: string;
  readonly name: string;
  /** A branch, a tag or a commit. */
  readonly revision: string;
}

export type Wanted =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'quant'; readonly quant: string }
  /** The only model of the repository, or its default quantisation. */
  | { readonly kind: 'any' };

export type ModelReference =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'hub'; readonly repository: Repository; readonly wanted: Wanted };

export const DEFAULT_REVISION = 'main';
/** Longer than any name that a hub allows, and short enough for file systems with a suffix appended. */
const MAX_REFERENCE_LENGTH = 500;
const FORMS =
  'a path to a .gguf file, hf:owner/repo, hf:owner/repo:QUANT or hf:owner/repo/file.gguf, optionally with @revision';

const hubPattern =
  /^hf:(?<owner>[^/:@]+)\/(?<name>[^/:@]+)(?:\/(?<file>[^:@]+)|:(?<quant>[^/:@]+))?(?:@(?<revision>[^:@]+))?$/;
/** Starts with neither a dot nor a dash: not hidden, not a parent directory, not an option. */
const namePattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,95}$/;
const segmentPattern = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,199}$/;

/** Rejects with `bad-reference` if the text has none of the forms. */
export function parseReference(reference: string): ModelReference {
  if (!reference.startsWith('hf:')) return localReference(reference);
  const groups = reference.length <= MAX_REFERENCE_LENGTH ? hubPattern.exec(reference)?.groups : undefined;
  if (!groups) throw badReference(reference, `it is not ${FORMS}`);
  const { owner = '', name = '', file, quant, revision = DEFAULT_REVISION } = groups;
  if (!isName(owner) || !isName(name)) throw badReference(reference, 'owner or repository contains invalid characters');
  if (!isRevision(revision)) throw badReference(reference, 'the revision contains invalid characters');
  if (quant !== undefined && !namePattern.test(quant))
    throw badReference(reference, 'the quantisation contains invalid characters');
  if (file !== undefined && !isModelPath(file))
    throw badReference(reference, 'the file is not a plain path that ends in .gguf');
  return {
    kind: 'hub',
    repository: { owner, name, revision },
    wanted:
      file !== undefined
        ? { kind: 'file', path: file }
        : quant !== undefined
          ? { kind: 'quant', quant }
          : { kind: 'any' },
  };
}

/** Whether a path inside a repository is a safe local path of a GGUF file. */
export function isModelPath(path: string): boolean {
  return path.length <= MAX_REFERENCE_LENGTH && /\.gguf$/i.test(path) && areSegments(path, segmentPattern);
}

/** Formats a reference for messages and lists. */
export function formatReference({ owner, name, revision }: Repository, file?: string): string {
  const at = revision === DEFAULT_REVISION ? '' : `@${revision}`;
  return `hf:${owner}/${name}${file === undefined ? '' : `/${file}`}${at}`;
}

function localReference(path: string): ModelReference {
  if (!/\.gguf$/i.test(path) || path.includes('\0')) throw badReference(path, `it is not ${FORMS}`);
  return { kind: 'local', path };
}

function isName(text: string): boolean {
  return areSegments(text, namePattern);
}

function isRevision(text: string): boolean {
  return text.length <= 200 && areSegments(text, namePattern);
}

function areSegments(path: string, pattern: RegExp): boolean {
  return path.split('/').every((segment) => pattern.test(segment) && !segment.includes('..') && !segment.endsWith('.'));
}

function badReference(reference: string, why: string): ModelStoreError {
  // References are untrusted: the message shows them short and printable.
  const shown = JSON.stringify(reference.length > 120 ? `${reference.slice(0, 120)}…` : reference);
  return new ModelStoreError('bad-reference', `${shown} cannot be used as a model: ${why}`);
}
