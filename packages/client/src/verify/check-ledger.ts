// Holds a ledger to what is remembered of it, over the network: fetches tiles, waits for a node that is behind, keeps what is new.
import {
  type FollowOptions,
  followLedger,
  type LedgerJudgement,
  type LedgerTrust,
  type ShownLedger,
} from '@strata/receipts';
import { pause } from '../http/pause.ts';
import { type LedgerMemory, ledgerMemory } from './ledger-memory.ts';

/** What a ledger is held to, and what becomes of it. */
export interface LedgerOptions extends LedgerTrust {
  /** Forgets what is remembered of this ledger and begins with what it shows now: for a change that its operator has explained. */
  readonly isReset?: boolean | undefined;
  /**
   * How long a checkpoint that is older than the known one is asked for again before it counts as a rollback: a node of several may be
   * behind the others. 2,000 by default.
   */
  readonly lagMs?: number | undefined;
}

/** What is at a path of the ledger, undefined where it has nothing there; or why that is not known, as a phrase. */
export type Resource = { readonly content: Uint8Array | undefined } | { readonly problem: string };

export interface FollowShownOptions extends LedgerOptions {
  readonly memory?: LedgerMemory | undefined;
  /** Fetches from a path below the ledger's prefix. */
  readonly resource: (path: string) => Promise<Resource>;
  readonly signal?: AbortSignal | undefined;
}

/** `shown` is the checkpoint that was judged. */
export type Followed =
  | (LedgerJudgement & { readonly shown: string })
  | { readonly kind: 'not-fetched'; readonly problem: string };

const LAG_MS = 2_000;
const FIRST_PAUSE_MS = 100;
/** Each time another process was faster, so that work goes on. */
const MAX_ATTEMPTS = 50;

/**
 * Judges a ledger and remembers it where it is the known one. What is remembered changes only by a proof from the very list that it
 * was: two checks at the same time cannot each accept another history.
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
  const options: Omit<FollowOptions, 'from'> = {
    ledgerKey: trust.ledgerKey,
    isReset: trust.isReset ?? false,
    fetchTile: (path) => contentOf(fetched(path)),
    now: new Date(),
  };
  let { checkpoint } = shown;
  let judged = await followLedger(before, shown, { ...options, from: known });
  const endsAt = performance.now() + lagMs;
  for (let pauseMs = FIRST_PAUSE_MS; judged.kind === 'rollback'; pauseMs *= 2) {
    const latest = await contentOf(resource('checkpoint'));
    checkpoint = new TextDecoder().decode(latest);
    // The receipt is in the older tree, so the newer one must go on from that too.
    const from = [...known, shown.checkpoint];
    judged = await followLedger(before, { ...shown, checkpoint }, { ...options, from });
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
