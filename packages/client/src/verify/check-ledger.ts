// Compares a ledger with its known state: fetches tiles, waits for a lagging node, and stores the new checkpoint.
import {
  type CheckLedgerOptions,
  checkLedger,
  type LedgerJudgement,
  type LedgerTrust,
  type ShownLedger,
} from '@strata/receipts';
import { pause } from '../http/pause.ts';
import { type LedgerMemory, ledgerMemory } from './ledger-memory.ts';

/** How a ledger is verified. */
export interface LedgerOptions extends LedgerTrust {
  /** Discards the known state of this ledger and accepts the current one: for a change that its operator has explained. */
  readonly isReset?: boolean | undefined;
  /**
   * How long a checkpoint that is older than the known one is fetched again before it is considered a rollback, since a node may lag
   * behind other nodes. 2,000 by default.
   */
  readonly lagMs?: number | undefined;
}

/** The content of a path of the ledger, undefined where it does not exist; or a phrase with the reason why it is unknown. */
export type Resource = { readonly content: Uint8Array | undefined } | { readonly problem: string };

export interface FollowShownOptions extends LedgerOptions {
  readonly memory?: LedgerMemory | undefined;
  /** Fetches from a path below the ledger's prefix. */
  readonly resource: (path: string) => Promise<Resource>;
  readonly signal?: AbortSignal | undefined;
}

/** `shown` is the verified checkpoint. */
export type Followed =
  | (LedgerJudgement & { readonly shown: string })
  | { readonly kind: 'not-fetched'; readonly problem: string };

const LAG_MS = 2_000;
const FIRST_PAUSE_MS = 100;
/** Each attempt fails only if another process made progress. */
const MAX_ATTEMPTS = 50;

/**
 * Verifies a ledger and stores its checkpoint. The stored list is replaced only by one that was proved from it, so concurrent
 * verifications cannot accept different histories.
 */
export async function followShown(
  shown: ShownLedger,
  { memory = ledgerMemory(), resource, ...options }: FollowShownOptions,
): Promise<Followed> {
  const fetched = once(resource);
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const before = await memory.get();
      const judged = await judge(before, shown, { ...options, resource, fetched });
      if (judged.kind !== 'ok' || judged.ledgers === before) return judged;
      if (await memory.set(judged.ledgers, before)) return judged;
    }
    return { kind: 'not-fetched', problem: 'other processes keep changing the remembered ledgers; try again' };
  } catch (error) {
    if (error instanceof NotFetchedError) return { kind: 'not-fetched', problem: error.message };
    throw error;
  }
}

interface JudgeOptions extends Omit<FollowShownOptions, 'memory'> {
  readonly fetched: (path: string) => Promise<Resource>;
}

async function judge(
  before: unknown,
  shown: ShownLedger,
  { resource, fetched, signal, lagMs = LAG_MS, ...trust }: JudgeOptions,
): Promise<LedgerJudgement & { readonly shown: string }> {
  const { ledgerCheckpoint } = trust;
  const known = ledgerCheckpoint === undefined ? [] : [ledgerCheckpoint];
  const options: Omit<CheckLedgerOptions, 'from'> = {
    ledgerKey: trust.ledgerKey,
    isReset: trust.isReset ?? false,
    fetchTile: (path) => contentOf(fetched(path)),
    now: new Date(),
  };
  let { checkpoint } = shown;
  let judged = await checkLedger(before, shown, { ...options, from: known });
  const endsAt = performance.now() + lagMs;
  for (let pauseMs = FIRST_PAUSE_MS; judged.kind === 'rollback'; pauseMs *= 2) {
    const latest = await contentOf(resource('checkpoint'));
    checkpoint = new TextDecoder().decode(latest);
    // The receipt is in the older tree, so the newer one must extend that too.
    const from = [...known, shown.checkpoint];
    judged = await checkLedger(before, { ...shown, checkpoint }, { ...options, from });
    if (performance.now() + pauseMs > endsAt) break;
    if (judged.kind === 'rollback') await pause(pauseMs, signal);
  }
  return { ...judged, shown: checkpoint };
}

class NotFetchedError extends Error {
  override readonly name = 'NotFetchedError';
}

async function contentOf(asked: Promise<Resource>): Promise<Uint8Array | undefined> {
  const resource = await asked;
  if ('problem' in resource) throw new NotFetchedError(resource.problem);
  return resource.content;
}

/** Tiles never change: each is fetched once, however often the proof is repeated. */
function once(resource: (path: string) => Promise<Resource>): (path: string) => Promise<Resource> {
  const fetched = new Map<string, Promise<Resource>>();
  return (path) => {
    const asked = fetched.get(path) ?? resource(path);
    fetched.set(path, asked);
    return asked;
  };
}
