// Whether the service can be reached: what the browser says, and what became of the last question.
import { useSyncExternalStore } from 'react';

/** `offline`: the browser has no network. `silent`: it has one, and the service does not answer. */
export type Connection = 'good' | 'offline' | 'silent';

/** Until the service is looked for again: longer each time, since one that is down is down for a while. */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

let connection: Connection = navigator.onLine ? 'good' : 'offline';
let waitMs = FIRST_WAIT_MS;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const waiting = new Set<() => void>();

/** A question was answered, if only by a refusal. */
export function tellAnswered(): void {
  waitMs = FIRST_WAIT_MS;
  become('good');
}

/** A question has not reached the service. */
export function tellUnreached(): void {
  become(navigator.onLine ? 'silent' : 'offline');
}

export function connectionNow(): Connection {
  return connection;
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, connectionNow);
}

/** Calls back each time when the service can be reached again. */
export function onReached(back: () => void): () => void {
  waiting.add(back);
  return () => waiting.delete(back);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function become(next: Connection): void {
  clearTimeout(timer);
  timer = undefined;
  if (next === 'silent') {
    timer = setTimeout(() => void look(), waitMs);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener();
}

/** Asks whether the service is well, which costs no request of anybody's day; then whoever waits may ask again. */
async function look(): Promise<void> {
  try {
    await fetch('/health', { cache: 'no-store' });
  } catch {
    return tellUnreached();
  }
  become('good');
  for (const back of waiting) back();
}

window.addEventListener('offline', () => become('offline'));
window.addEventListener('online', () => {
  waitMs = FIRST_WAIT_MS;
  void look();
});
