// What a verifier remembers of ledgers between two checks. A value that is kept as JSON.
import { checkpointOfNote } from '../notes/checkpoint.ts';
import { type NoteVerifier, parseVerifierKey } from '../notes/note.ts';

/** One ledger, as it was last verified. */
export interface RememberedLedger {
  readonly origin: string;
  /** C2SP verifier key of the checkpoint's signer. */
  readonly key: string;
  /** The key before a rotation: nodes that do not have the new one yet sign with it until then, ISO 8601. */
  readonly former?: { readonly key: string; readonly until: string };
  /** The latest checkpoint: a signed note. */
  readonly checkpoint: string;
  /** When it was verified, ISO 8601. */
  readonly at: string;
  /** Addresses of services that showed this ledger, such as `https://strata.example`; the latest first. */
  readonly services: readonly string[];
}

const MAX_LEDGERS = 100;
const MAX_SERVICES = 8;

/** Ledgers that were kept as JSON; undefined where one of them is not what was kept. */
export function readRemembered(value: unknown): readonly RememberedLedger[] | undefined {
  return Array.isArray(value) && value.every(isRemembered) ? value : undefined;
}

export function isRemembered(value: unknown): value is RememberedLedger {
  const { origin, key, former, checkpoint, at, services } = Object(value) as Record<string, unknown>;
  const isKey = (text: unknown) => typeof text === 'string' && parseVerifierKey(text)?.name === origin;
  const { key: formerKey, until } = Object(former) as Record<string, unknown>;
  return (
    isKey(key) &&
    (former === undefined || (isKey(formerKey) && isTime(until))) &&
    typeof checkpoint === 'string' &&
    checkpointOfNote(checkpoint)?.origin === origin &&
    isTime(at) &&
    Array.isArray(services) &&
    services.every((service) => typeof service === 'string')
  );
}

const isTime = (value: unknown): boolean => typeof value === 'string' && Number.isFinite(Date.parse(value));

/** Keys whose checkpoints are believed at a time. */
export function keysAt({ key, former }: RememberedLedger, now: Date): NoteVerifier[] {
  const isFormerInUse = former !== undefined && now.getTime() < Date.parse(former.until);
  return [key, ...(isFormerInUse ? [former.key] : [])].flatMap((text) => parseVerifierKey(text) ?? []);
}

/** The ledger with one more service that showed it. */
export function shownAt(services: readonly string[], service: string): readonly string[] {
  return [service, ...services.filter((each) => each !== service)].slice(0, MAX_SERVICES);
}

/** `next` instead of `before`, first in the list. The ledger that was verified least recently is dropped where there are too many. */
export function withLedger(
  ledgers: readonly RememberedLedger[],
  next: RememberedLedger,
  before: RememberedLedger | undefined,
): readonly RememberedLedger[] {
  return [next, ...ledgers.filter((ledger) => ledger !== before)].slice(0, MAX_LEDGERS);
}

/** `localhost/…` is the default name of a ledger: different ledgers have it, and only their keys distinguish them. */
export const isDefaultName = (origin: string): boolean => /^localhost(?:\/|$)/.test(origin);

/** What runs on the same machine may be another service each time. */
export function isLoopback(service: string): boolean {
  const { hostname } = new URL(service);
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
