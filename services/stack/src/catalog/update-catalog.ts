// Fetches, verifies and stores catalog releases. Whatever is wrong with one, the stored release stays.
import type { NoteVerifier } from '@strata/receipts';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import type { Store } from '../store/index.ts';
import { bundledCatalog, type Catalog, headOf, putRelease, storedRelease } from './catalog.ts';
import { type CheckedContent, checkInThread } from './check-content.ts';
import { MAX_RELEASE_BYTES, parseRelease, signatureProblem } from './release.ts';

export interface UpdateDeps {
  readonly store: Pick<Store, 'texts'>;
  /** Keys that may sign releases. */
  readonly verifiers: readonly NoteVerifier[];
  readonly now: () => Date;
  /** Replaces the thread that checks the content, in tests. */
  readonly check?: (json: string) => Promise<CheckedContent>;
}

export type CatalogUpdate =
  /** Used by every process from its next start on; with `isStored: false` only verified. */
  | { readonly kind: 'new'; readonly date: string; readonly providers: number; readonly isStored: boolean }
  /** The store has this release already. */
  | { readonly kind: 'current'; readonly date: string }
  | { readonly kind: 'refused'; readonly problem: string };

const FETCH_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 6 * 3_600_000;
/** A release from the future would be newer than all releases until then. */
const MAX_AHEAD_MS = 24 * 3_600_000;

/** The bytes at a URL, or why they cannot be fetched. */
export async function fetchRelease(
  fetcher: Pick<Fetcher, 'fetch'>,
  url: string,
  signal?: AbortSignal,
): Promise<Uint8Array | string> {
  const fetched = await fetcher.fetch(url, {
    ...{ maxBytes: MAX_RELEASE_BYTES, timeoutMs: FETCH_TIMEOUT_MS, maxRedirects: 3 },
    ...(signal && { signal }),
  });
  if (fetched.kind === 'failed') return `it cannot be fetched: ${fetched.detail}`;
  if (fetched.status !== 200) return `it cannot be fetched: status ${fetched.status}`;
  return fetched.isTruncated ? 'it is larger than 16 MiB, or ended early' : fetched.body;
}

/** Verifies the bytes of a release: signature, date, schema and patterns, in this order. Stores it unless `isDry`. */
export async function updateCatalog(
  bytes: Uint8Array,
  { store, verifiers, now, check = checkInThread }: UpdateDeps,
  { isDry = false }: { readonly isDry?: boolean } = {},
): Promise<CatalogUpdate> {
  const refused = (problem: string): CatalogUpdate => ({ kind: 'refused', problem });
  if (bytes.length > MAX_RELEASE_BYTES) return refused('it is larger than 16 MiB');
  const release = parseRelease(new TextDecoder().decode(bytes));
  if (typeof release === 'string') return refused(release);
  const unsigned = await signatureProblem(release, verifiers);
  if (unsigned !== undefined) return refused(unsigned);
  const { date, head, json, text } = release;
  const stored = headOf(await storedRelease(store));
  if (head === stored) return { kind: 'current', date };
  const known = [bundledCatalog().date, stored.split('\n')[1] ?? ''].sort().at(-1) ?? '';
  if (date <= known) return refused(`it is of ${date}, not newer than the catalog of ${known}`);
  if (Date.parse(date) > now().getTime() + MAX_AHEAD_MS) return refused(`its date ${date} is in the future`);
  const checked = await check(json);
  if ('problem' in checked) return refused(checked.problem);
  if (!isDry) await putRelease(store, text);
  return { kind: 'new', date, providers: checked.providers, isStored: !isDry };
}

/** The task of the scheduler: fetches the release at the start and every six hours. */
export async function followReleases(
  {
    url,
    fetcher,
    logger,
    ...deps
  }: UpdateDeps & { readonly url: string; readonly fetcher: Fetcher; readonly logger: Logger },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const bytes = await fetchRelease(fetcher, url, signal);
      const update: CatalogUpdate =
        typeof bytes === 'string' ? { kind: 'refused', problem: bytes } : await updateCatalog(bytes, deps);
      if (update.kind === 'new') logger.info(update, 'a new catalog release is stored');
      else if (update.kind === 'refused' && !signal.aborted)
        logger.warn(update, 'the catalog release is refused: the present catalog stays in use');
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'updating the catalog failed');
    }
    await sleep(CHECK_INTERVAL_MS, signal);
  }
}

/** Time between checks of a process for a stored release; a random part keeps processes from stopping together. */
const POLL_MS = { min: 30_000, max: 90_000 };

/** Resolves when the store has another release than at the start of the process, or when the signal aborts. */
export async function catalogReplaced(
  store: Pick<Store, 'texts'>,
  { storedHead }: Pick<Catalog, 'storedHead'>,
  { signal, wait = sleep }: { readonly signal: AbortSignal; readonly wait?: typeof sleep },
): Promise<void> {
  while (!signal.aborted) {
    await wait(POLL_MS.min + Math.random() * (POLL_MS.max - POLL_MS.min), signal);
    // A failure of the database is reported by the loop that reads its logs.
    const text = await storedRelease(store).catch(() => undefined);
    if (text !== undefined && headOf(text) !== storedHead) return;
  }
}
