// The catalog of a process: the bundled one, or the release that the store has if it is newer. All processes of a store
// read the same release, so that no two of them evaluate evidence by different rules.
import { randomUUID } from 'node:crypto';
import { entries, rangeMeanings } from '@strata/catalog';
import { CatalogError, loadAddressRanges, loadCatalog, type Provider } from '@strata/detect';
import type { NoteVerifier } from '@strata/receipts';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Store } from '../store/index.ts';
import { parseRelease, type Release, ReleaseContent, signatureProblem } from './release.ts';

export interface Catalog {
  readonly providers: readonly Provider[];
  /** The meaning of the tags of published address ranges. */
  readonly rangeMeanings: readonly unknown[];
  /** Of the release; of the bundled catalog the newest `verified_at`. Compares as text. */
  readonly date: string;
  /** `bundled`, or the name of the key that signed the release. */
  readonly source: string;
  /** What the store had at the start, as `storedHead` reads it. */
  readonly storedHead: string;
}

/** Names in the store's texts, written in one transaction: the file of the release, and its head. */
const FILE = 'catalog-release';
const HEAD = 'catalog-release-head';
/** Begins the head of a release that was removed: its date remains, so that no older release is accepted. */
const REMOVED = 'removed ';

type Texts = Pick<Store, 'texts'>;

let bundled: Catalog | undefined;

/** Created once per process, for any number of services. */
export function bundledCatalog(): Catalog {
  if (bundled) return bundled;
  const providers = loadCatalog(entries);
  const dates = providers.flatMap(({ rules }) => rules.map(({ verified_at }) => verified_at ?? ''));
  const date = dates.reduce((newest, each) => (each > newest ? each : newest), '');
  bundled = { providers, rangeMeanings, date, source: 'bundled', storedHead: '' };
  return bundled;
}

export interface OpenCatalogOptions {
  /** Keys of which one must have signed the release; without them it was verified when it was stored. */
  readonly verifiers?: readonly NoteVerifier[] | undefined;
  readonly logger?: Logger | undefined;
}

/** The newer one of the bundled catalog and the stored release. A release that must not or cannot be used is logged. */
export async function openCatalog(store: Texts, { verifiers, logger }: OpenCatalogOptions = {}): Promise<Catalog> {
  const head = await storedHead(store);
  const ours = { ...bundledCatalog(), storedHead: head };
  const release = await storedRelease(store, head, verifiers);
  if (release === undefined) return ours;
  if (typeof release === 'string') {
    logger?.error({ problem: release }, 'the stored catalog release is not used');
    return ours;
  }
  const { date, name: source, json } = release;
  if (date < ours.date) return ours;
  const content = readContent(json);
  if ('problem' in content) {
    logger?.error({ date, source, problem: content.problem }, 'the stored catalog release is not used');
    return ours;
  }
  return { ...content, date, source, storedHead: head };
}

/** Validates the content of a release: schema, unique names and patterns, the limit of labels, the table of ranges. */
export function readContent(json: string): Pick<Catalog, 'providers' | 'rangeMeanings'> | { readonly problem: string } {
  try {
    const { providers: given, address_ranges: meanings } = ReleaseContent.parse(JSON.parse(json));
    const providers = loadCatalog(given);
    loadAddressRanges([], { meanings, catalog: providers });
    return { providers, rangeMeanings: meanings };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: 'the content is not JSON' };
    if (error instanceof z.ZodError) return { problem: listed(error.issues.map(issueText)) };
    if (error instanceof CatalogError) return { problem: listed(error.problems) };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The head of the stored or removed release, with a last line that each write changes; empty before the first one. */
export const storedHead = async ({ texts }: Texts): Promise<string> => (await texts.get(HEAD)) ?? '';

/** The date in such a head; empty for an empty one. */
export const dateOf = (head: string): string => head.split('\n')[1] ?? '';

/** Whether it is the head of this release, and the release was not removed. */
export const isHeadOf = (head: string, release: Release): boolean => head.startsWith(`${release.head}\n`);

/** The release of this head, or why it must not be used; undefined without one, and if it was removed. */
export async function storedRelease(
  { texts }: Texts,
  head: string,
  verifiers?: readonly NoteVerifier[],
): Promise<Release | string | undefined> {
  if (head === '' || head.startsWith(REMOVED)) return undefined;
  const release = parseRelease((await texts.get(FILE)) ?? '');
  if (typeof release === 'string') return release;
  if (!isHeadOf(head, release)) return 'it is not the release that was stored last';
  return (verifiers && (await signatureProblem(release, verifiers))) ?? release;
}

/** Stores a release, with which every process starts again; false if the store no longer has the head that was read. */
export const putRelease = ({ texts }: Texts, { head, text }: Release, read: string): Promise<boolean> =>
  texts.replace(HEAD, read === '' ? undefined : read, { [HEAD]: `${head}\n${randomUUID()}`, [FILE]: text });

/** Removes the stored release, if there is one: every process starts again with the bundled catalog. */
export async function removeRelease(store: Texts): Promise<boolean> {
  const head = await storedHead(store);
  if (head === '' || head.startsWith(REMOVED)) return false;
  // Another process may have stored a release after the read.
  if (await store.texts.replace(HEAD, head, { [HEAD]: REMOVED + head, [FILE]: '' })) return true;
  return removeRelease(store);
}

/** The first problems, shortened. */
export function listed(problems: readonly string[]): string {
  const [shown, rest] = [problems.slice(0, 5).map((each) => each.slice(0, 200)), problems.length - 5];
  return `${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

const issueText = ({ path, message }: z.core.$ZodIssue) => `${path.map(String).join('.') || 'the content'}: ${message}`;
