// A catalog release in one file: a signed note (c2sp.org/signed-note) with its date and the SHA-256 of the content, an
// empty line, and the content as one line of JSON. Pure.
import { createHash } from 'node:crypto';
import { type NoteSigner, type NoteVerifier, openNote, signNote } from '@strata/receipts';
import { z } from 'zod';

/** A larger release is neither read nor fetched; the catalog has less than 1 MiB. */
export const MAX_RELEASE_BYTES = 16 * 1024 * 1024;

/** The entries and the table of address ranges, unchecked. */
export const ReleaseContent = z.strictObject({
  providers: z.array(z.unknown()).min(1),
  address_ranges: z.array(z.unknown()),
});
export type ReleaseContent = z.infer<typeof ReleaseContent>;

/** The parts of a release whose content has the named digest; the signature is not verified. */
export interface Release {
  /** Name of the signing key. */
  readonly name: string;
  /** Orders releases: `2026-11-30T12:00:00Z`. */
  readonly date: string;
  /** The signed text; another release has another one. */
  readonly head: string;
  readonly note: string;
  /** The complete file. */
  readonly text: string;
  readonly json: string;
}

const HEAD = /^catalog of (\S+)\n(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\n([0-9a-f]{64})$/;

/** The file of a release. All signers have one name; several serve the rotation of a key. */
export function formatRelease(content: ReleaseContent, at: Date, signers: readonly [NoteSigner, ...NoteSigner[]]) {
  const json = `${JSON.stringify(content)}\n`;
  const date = at.toISOString().replace(/\.\d+/, '');
  return `${signNote(`catalog of ${signers[0].name}\n${date}\n${digestOf(json)}\n`, signers)}\n${json}`;
}

/** The parts of a file, or why it is damaged. */
export function parseRelease(text: string): Release | string {
  const [head = '', signatures = '', json = '', ...rest] = text.split('\n\n', 4);
  const [, name = '', date = '', digest] = HEAD.exec(head) ?? [];
  if (digest === undefined || json === '' || rest.length > 0) return 'it is not a catalog release';
  if (!Number.isFinite(Date.parse(date))) return `'${date}' is not a date`;
  if (digestOf(json) !== digest) return 'it is damaged or incomplete: the content has another SHA-256';
  return { name, date, head, note: `${head}\n\n${signatures}\n`, text, json };
}

/** Why a release must not be trusted; undefined if one of the keys signed it under the name that it has. */
export async function signatureProblem(
  { note, name }: Release,
  verifiers: readonly NoteVerifier[],
): Promise<string | undefined> {
  const opened = await openNote(note, verifiers);
  if (!opened.ok) return opened.problem;
  return opened.signedBy.name === name ? undefined : `it is of ${name}, but signed by ${opened.signedBy.name}`;
}

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');
