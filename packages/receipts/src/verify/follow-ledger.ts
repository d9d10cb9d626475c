// Verifies that a ledger is consistent with its known key and checkpoint, from an earlier check or another source.
import { type Checkpoint, checkpointOfNote } from '../notes/checkpoint.ts';
import { vouchedKeys } from '../notes/key-note.ts';
import { formatVerifierKey, type NoteVerifier, openNote, parseVerifierKey } from '../notes/note.ts';
import { publishedLedger } from '../receipt/key-set.ts';
import { type Consistency, checkConsistency, type FetchTile } from './consistency.ts';
import type { LedgerTrust } from './ledger-trust.ts';
import {
  isDefaultName,
  isLoopback,
  isRemembered,
  keysAt,
  type RememberedLedger,
  readRemembered,
  shownAt,
  withLedger,
} from './remembered-ledger.ts';
import { KEY_OVERLAP_MS } from './verify.ts';

/** What a service shows of its ledger; untrusted. */
export interface ShownLedger {
  /** The origin of the service's URL, such as `https://strata.example`. */
  readonly service: string;
  readonly keySet: unknown;
  /** A signed note. */
  readonly checkpoint: string;
}

export interface CheckLedgerOptions extends Pick<LedgerTrust, 'ledgerKey'> {
  /** Signed notes from other sources, with which the ledger must also be consistent. */
  readonly from?: readonly string[];
  /** Discards what is remembered of this ledger, and unreadable entries, and starts from what is shown. */
  readonly isReset?: boolean;
  readonly fetchTile: FetchTile;
  readonly now: Date;
}

/** Why a ledger is not the known one. `unreadable`: the remembered state, or a given checkpoint, cannot be read. */
export type LedgerConflict = Exclude<Consistency, 'ok'> | 'other-key' | 'other-ledger' | 'unreadable';

/** `detail` is a sentence for users; `ledgers` is the list to remember, the same object if nothing changed. */
export type LedgerJudgement =
  | { readonly kind: 'ok'; readonly detail: string; readonly ledgers: readonly RememberedLedger[] }
  | {
      readonly kind: LedgerConflict;
      readonly detail: string;
      /** The checkpoint that was compared: together with the one shown, verifiable evidence of a fork. */
      readonly known?: string;
    };

/**
 * Compares what a service shows of its ledger with what is remembered. On first use the key set is trusted. A ledger is identified by its
 * origin, and under a default name also by its key. Rejects only if `fetchTile` rejects.
 */
export async function checkLedger(
  remembered: unknown,
  shown: ShownLedger,
  options: CheckLedgerOptions,
): Promise<LedgerJudgement> {
  const { now, from = [], isReset = false, fetchTile } = options;
  const head = checkpointOfNote(shown.checkpoint);
  if (!head) return { kind: 'unproved', detail: 'The checkpoint is malformed.' };
  const ledgers = isReset
    ? withoutForgotten(remembered, { origin: head.origin, service: shown.service })
    : readRemembered(remembered);
  if (!ledgers) return { kind: 'unreadable', detail: 'What is remembered of ledgers cannot be read.' };
  const identified = await identify(ledgers, head.origin, { shown, options });
  if ('kind' in identified) return identified;
  const { before, signer } = identified;
  const keys = [signer, ...publishedLedger(shown.keySet).verifiers, ...(before ? keysAt(before, now) : [])];
  for (const note of from) {
    // Otherwise a ledger could be accused with a checkpoint that it never signed.
    if (!(await openNote(note, keys)).ok)
      return { kind: 'unreadable', detail: `The given checkpoint is not signed by a key of ${head.origin}.` };
  }
  for (const note of [...(before ? [before.checkpoint] : []), ...from]) {
    const known = checkpointOfNote(note);
    if (known?.origin !== head.origin)
      return { kind: 'unreadable', detail: `The given checkpoint is not one of ${head.origin}.` };
    const kind = await checkConsistency(known, head, fetchTile);
    if (kind !== 'ok') return { kind, detail: conflictDetail(kind, known, head), known: note };
  }
  const next = rememberedAs(before, { shown, head, signer, now });
  const lost =
    isReset && !Array.isArray(remembered)
      ? ' The remembered state of all ledgers was unreadable and is discarded.'
      : '';
  const detail = detailOf(head, before, next) + lost;
  return { kind: 'ok', detail, ledgers: next === before ? ledgers : withLedger(ledgers, next, before) };
}

/** The other ledgers; unreadable entries are discarded too. */
function withoutForgotten(
  remembered: unknown,
  { origin, service }: { readonly origin: string; readonly service: string },
): readonly RememberedLedger[] {
  const ledgers = Array.isArray(remembered) ? remembered.filter(isRemembered) : [];
  return ledgers.filter((ledger) => ledger.origin !== origin && !ledger.services.includes(service));
}

/** The remembered state of the ledger, and the trusted key of its checkpoint. */
interface Identified {
  readonly before: RememberedLedger | undefined;
  readonly signer: NoteVerifier;
}

async function identify(
  ledgers: readonly RememberedLedger[],
  origin: string,
  { shown, options }: { readonly shown: ShownLedger; readonly options: CheckLedgerOptions },
): Promise<Identified | LedgerJudgement> {
  const { service, checkpoint: note } = shown;
  const published = publishedLedger(shown.keySet);
  const signerFrom = async (keys: readonly NoteVerifier[]) => {
    const opened = await openNote(note, await vouchedKeys(keys, published.rotations));
    return opened.ok ? opened.signedBy : undefined;
  };
  const sameName = ledgers.filter((ledger) => ledger.origin === origin);
  const signers = await Promise.all(sameName.map((ledger) => signerFrom(keysAt(ledger, options.now))));
  const at = signers.findIndex((signer) => signer !== undefined);
  const known = sameName[at];
  // A ledger of this name at this service, or anywhere if the name is unique.
  const expected = sameName.find((ledger) => !isDefaultName(origin) || ledger.services.includes(service));
  if (options.ledgerKey !== undefined) {
    const given = parseVerifierKey(options.ledgerKey);
    const signer = given?.name === origin ? await signerFrom([given]) : undefined;
    return signer ? { before: known ?? expected, signer } : otherKey(origin, options.ledgerKey);
  }
  const signer = signers[at];
  if (signer) return { before: known, signer };
  if (expected) return otherKey(origin, expected.key, expected.checkpoint);
  const moved = isLoopback(service) ? undefined : ledgers.find((ledger) => ledger.services.includes(service));
  if (moved) {
    const detail = `Another ledger: ${service} had ${moved.origin} and now shows ${origin}.`;
    return { kind: 'other-ledger', detail, known: moved.checkpoint };
  }
  const first = published.origin === origin ? await signerFrom(published.verifiers) : undefined;
  return first ? { before: undefined, signer: first } : otherKey(origin, 'the key set has none');
}

function otherKey(origin: string, key: string, known?: string): LedgerJudgement {
  const detail = `Another key: the checkpoint of ${origin} is signed neither by the known key nor by one that it vouches for (${key}).`;
  return { kind: 'other-key', detail, ...(known !== undefined && { known }) };
}

/** The state to remember; `before` itself if nothing changed. */
function rememberedAs(
  before: RememberedLedger | undefined,
  { shown, head, signer, now }: { shown: ShownLedger; head: Checkpoint; signer: NoteVerifier; now: Date },
): RememberedLedger {
  const { service, checkpoint } = shown;
  const signedBy = formatVerifierKey(signer);
  const isGrown = !before || head.size > sizeOf(before);
  // Signed by a node that does not have the new key yet.
  const isFormer = before?.former?.key === signedBy;
  const isRotated = before !== undefined && before.key !== signedBy && !isFormer;
  if (before && !isGrown && !isRotated && before.services.includes(service)) return before;
  const until = new Date(now.getTime() + KEY_OVERLAP_MS).toISOString();
  const former = isRotated ? { key: before.key, until } : before?.former;
  return {
    origin: head.origin,
    key: before && isFormer ? before.key : signedBy,
    ...(former && { former }),
    checkpoint: isGrown ? checkpoint : before.checkpoint,
    at: now.toISOString(),
    services: shownAt(before?.services ?? [], service),
  };
}

function conflictDetail(kind: Exclude<Consistency, 'ok'>, known: Checkpoint, shown: Checkpoint): string {
  switch (kind) {
    case 'fork':
      return `Fork: the ledger of ${shown.size} leaves does not contain the ${known.size} known leaves. It has two histories.`;
    case 'rollback':
      return `Rollback: the ledger has ${shown.size} leaves, but ${known.size} are known. Published leaves are missing, as after the restore of an old backup.`;
    case 'unproved':
      return `The ledger does not prove that its ${shown.size} leaves contain the ${known.size} known leaves: tiles are missing or invalid.`;
    default:
      return kind satisfies never;
  }
}

function detailOf(head: Checkpoint, before: RememberedLedger | undefined, next: RememberedLedger): string {
  if (!before) return `First check of this ledger: its key and its ${head.size} leaves are remembered.`;
  const rotation = next.key === before.key ? '' : ' The key is new; the remembered one vouches for it.';
  return `The ledger of ${head.size} leaves is consistent with the ${sizeOf(before)} leaves remembered on ${before.at}.${rotation}`;
}

const sizeOf = ({ checkpoint }: RememberedLedger): number => checkpointOfNote(checkpoint)?.size ?? 0;
