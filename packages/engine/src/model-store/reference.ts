// References to models: a path to a GGUF file, or a place on a hub. What is let through here is safe in paths and in URLs.
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
  /** The only model of the repository, or its usual one. */
  | { readonly kind: 'any' };

export type ModelReference =
  | { readonly kind: 'local'; readonly path: string }
  | { readonly kind: 'hub'; readonly repository: Repository; readonly wanted: Wanted };

export const DEFAULT_REVISION = 'main';
/** More than any name that a hub allows, and within what file systems allow with a suffix behind it. */
const MAX_REFERENCE_LENGTH = 500;
const FORMS =
  'a path to a .gguf file, hf:owner/repo, hf:owner/repo:QUANT or hf:owner/repo/file.gguf, with @revision or without';

const hubPattern =
  /^hf:(?<owner>[^/:@]+)\/(?<name>[^/:@]+)(?:\/(?<file>[^:@]+)|:(?<quant>[^/:@]+))?(?:@(?<revision>[^:@]+))?$/;
/** Begins with neither a dot nor a dash, so that it is neither hidden, nor a step upwards, nor an option. */
const namePattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,95}$/;
const segmentPattern = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,199}$/;

/** Rejects with `bad-reference` whatever is not plainly one of the forms. */
export function parseReference(reference: string): ModelReference {
  if (!reference.startsWith('hf:')) return localReference(reference);
  const groups = reference.length <= MAX_REFERENCE_LENGTH ? hubPattern.exec(reference)?.groups : undefined;
  if (!groups) throw badReference(reference, `it is not ${FORMS}`);
  const { owner = '', name = '', file, quant, revision = DEFAULT_REVISION } = groups;
  if (!isName(owner) || !isName(name))
    throw badReference(reference, 'owner or repository has characters that none has');
  if (!isRevision(revision)) throw badReference(reference, 'the revision has characters that none has');
  if (quant !== undefined && !namePattern.test(quant))
    throw badReference(reference, 'the quantisation has odd characters');
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

/** Whether a path inside a repository is plain enough to be one on this machine, and a GGUF file's. */
export function isModelPath(path: string): boolean {
  return path.length <= MAX_REFERENCE_LENGTH && /\.gguf$/i.test(path) && areSegments(path, segmentPattern);
}

/** The reference again, for messages and lists. */
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
  // A reference may come from anywhere: what is shown of it is short and printable.
  const shown = JSON.stringify(reference.length > 120 ? `${reference.slice(0, 120)}…` : reference);
  return new ModelStoreError('bad-reference', `${shown} cannot be used as a model: ${why}`);
}
