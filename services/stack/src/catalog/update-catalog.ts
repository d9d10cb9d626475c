// Fetches, verifies and stores catalog releases. Whatever is wrong with one, the stored release stays.
import type { NoteVerifier } from '@strata/receipts';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import type { Store } from '../store/index.ts';
import { bundledCatalog, type Catalog, dateOf, isHeadOf, putRelease, storedHead, storedRelease } from './catalog.ts';
import { checkInThread } from './check-content.ts';
import { MAX_RELEASE_BYTES, parseRelease, signatureProblem } from './release.ts';

export interface UpdateDeps {
  /** Without one the release is only verified. */
  readonly store?: Pick<Store, 'texts'> | undefined;
  /** Keys that may sign releases. */
  readonly verifiers: readonly NoteVerifier[];
  readonly now: () => Date;
  /** Replaces the thread that checks the content, in tests. */
  readonly check?: typeof checkInThread;
  readonly signal?: AbortSignal;
}

export type CatalogUpdate =
  /** With `isStored: false` only verified. */
  | { readonly kind: 'new'; readonly date: string; readonly providers: number; readonly isStored: boolean }
  /** The store has this release already. */
  | { readonly kind: 'current'; readonly date: string }
  /** Not newer than the catalog of the program, the stored release, or one that was removed. */
  | { readonly kind: 'older'; readonly problem: string }
  | { readonly kind: 'refused'; readonly problem: string };

const FETCH_TIMEOUT_MS = 60_000;
const CHECK_INTERVAL_MS = 6 * 3_600_000;
const FIRST_RETRY_MS = 5 * 60_000;
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

/**
 * Verifies the bytes of a release: signature, date, schema and patterns, in this order. Stores it, also in place of the same
 * one if that is damaged or signed by other keys.
 */
export async function updateCatalog(
  bytes: Uint8Array,
  { store, verifiers, now, check = checkInThread, signal }: UpdateDeps,
): Promise<CatalogUpdate> {
  const refused = (problem: string): CatalogUpdate => ({ kind: 'refused', problem });
  if (bytes.length > MAX_RELEASE_BYTES) return refused('it is larger than 16 MiB');
  const release = parseRelease(new TextDecoder().decode(bytes));
  if (typeof release === 'string') return refused(release);
  const unsigned = await signatureProblem(release, verifiers);
  if (unsigned !== undefined) return refused(unsigned);
  const { date, json } = release;
  const stored = store ? await storedHead(store) : '';
  if (store && isHeadOf(stored, release)) {
    if (typeof (await storedRelease(store, stored, verifiers)) === 'object') return { kind: 'current', date };
  } else {
    const known = [bundledCatalog().date, dateOf(stored)].sort().at(-1) ?? '';
    if (date <= known) return { kind: 'older', problem: `it is of ${date}, not newer than the catalog of ${known}` };
  }
  if (Date.parse(date) > now().getTime() + MAX_AHEAD_MS) return refused(`its date ${date} is in the future`);
  const checked = await check(json, signal);
  if ('problem' in checked) return refused(checked.problem);
  if (store && !(await putRelease(store, release, stored)))
    return refused('the stored release changed while this one was verified: try again');
  return { kind: 'new', date, providers: checked.providers, isStored: store !== undefined };
}

/** The task of the scheduler: fetches the release at the start and every six hours, after a failure earlier. */
export async function followReleases(
  {
    url,
    fetcher,
    logger,
    wait = sleep,
    ...deps
  }: Omit<UpdateDeps, 'signal'> & {
    readonly url: string;
    readonly fetcher: Pick<Fetcher, 'fetch'>;
    readonly logger: Logger;
    /** Replaces the delay in tests. */
    readonly wait?: typeof sleep;
  },
  signal: AbortSignal,
): Promise<void> {
  let retryMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    let isDone = false;
    try {
      const bytes = await fetchRelease(fetcher, url, signal);
      const update: CatalogUpdate =
        typeof bytes === 'string'
          ? { kind: 'refused', problem: bytes }
          : await updateCatalog(bytes, { ...deps, signal });
      isDone = update.kind !== 'refused';
      if (update.kind === 'new') logger.info(update, 'a new catalog release is stored');
      else if (update.kind === 'older') logger.info(update, 'the catalog release is not newer');
      else if (update.kind === 'refused' && !signal.aborted)
        logger.warn(update, 'the catalog release is refused: the present catalog stays in use');
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'updating the catalog failed');
    }
    await wait(isDone ? CHECK_INTERVAL_MS : retryMs, signal);
    retryMs = isDone ? FIRST_RETRY_MS : Math.min(retryMs * 2, CHECK_INTERVAL_MS);
  }
}

/** Time between checks of a process for a stored release; a random part keeps processes from stopping together. */
const POLL_MS = { min: 30_000, max: 90_000 };

/** Resolves when the store has another release than at the start of the process or none, or when the signal aborts. */
export async function catalogReplaced(
  store: Pick<Store, 'texts'>,
  { storedHead: known }: Pick<Catalog, 'storedHead'>,
  { signal, wait = sleep }: { readonly signal: AbortSignal; readonly wait?: typeof sleep },
): Promise<void> {
  for (;;) {
    await wait(POLL_MS.min + Math.random() * (POLL_MS.max - POLL_MS.min), signal);
    if (signal.aborted) return;
    // If the database fails, the next check reads again; `/ready` reports the failure.
    const head = await storedHead(store).catch(() => known);
    if (head !== known) return;
  }
}
