// The state of ledgers that a verifier remembers between checks, stored as JSON.
import { checkpointOfNote } from '../notes/checkpoint.ts';
import { type NoteVerifier, parseVerifierKey } from '../notes/note.ts';

/** A ledger as it was last verified. */
export interface RememberedLedger {
  readonly origin: string;
  /** C2SP verifier key of the checkpoint's signer. */
  readonly key: string;
  /** The key before a rotation, accepted until this time (ISO 8601) from nodes that do not have the new one. */
  readonly former?: { readonly key: string; readonly until: string };
  /** The latest checkpoint: a signed note. */
  readonly checkpoint: string;
  /** Time of the verification, ISO 8601. */
  readonly at: string;
  /** Origins of services that showed this ledger, such as `https://strata.example`; the latest first. */
  readonly services: readonly string[];
}

const MAX_LEDGERS = 100;
const MAX_SERVICES = 8;

/** Parses stored ledgers; undefined if one of them is invalid. */
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

/** Keys whose checkpoints are accepted at a time. */
export function keysAt({ key, former }: RememberedLedger, now: Date): NoteVerifier[] {
  const isFormerInUse = former !== undefined && now.getTime() < Date.parse(former.until);
  return [key, ...(isFormerInUse ? [former.key] : [])].flatMap((text) => parseVerifierKey(text) ?? []);
}

/** Adds a service that showed the ledger. */
export function shownAt(services: readonly string[], service: string): readonly string[] {
  return [service, ...services.filter((each) => each !== service)].slice(0, MAX_SERVICES);
}

/** Replaces `before` by `next`, first in the list. The least recently verified ledger is dropped if there are too many. */
export function withLedger(
  ledgers: readonly RememberedLedger[],
  next: RememberedLedger,
  before: RememberedLedger | undefined,
): readonly RememberedLedger[] {
  return [next, ...ledgers.filter((ledger) => ledger !== before)].slice(0, MAX_LEDGERS);
}

/** `localhost/…` is the default origin of a ledger: only keys distinguish ledgers that use it. */
export const isDefaultName = (origin: string): boolean => /^localhost(?:\/|$)/.test(origin);

/** Different services may run at a loopback address over time. */
export function isLoopback(service: string): boolean {
  const { hostname } = new URL(service);
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
