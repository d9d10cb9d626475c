// Waiting for locks of a store to change hands.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { TermHold, TermLock } from '../index.ts';

export const DEADLINE_MS = 120_000;

/** Tries until the lock is there. A term begins in the writers' turn, which a process that stands still may hold for 30 s. */
export async function taken(lock: TermLock): Promise<TermHold> {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await delay(20)) {
    const hold = await lock.tryTake().catch(() => undefined);
    if (hold) return hold;
  }
  throw new Error('nobody let go of the lock');
}

export async function untilLost({ lost }: TermHold): Promise<void> {
  for (const deadline = Date.now() + DEADLINE_MS; !lost.aborted && Date.now() < deadline; ) await delay(20);
  assert.ok(lost.aborted, 'it heard that the lock is lost');
}
