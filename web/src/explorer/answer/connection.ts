// Whether the service can be reached: what became of the last question. What the browser says of the network only names
// the cause, since a service on one's own machine answers without any.
import { useSyncExternalStore } from 'react';

/** `offline`: the browser has no network. `silent`: it has one, and the service does not answer. */
export type Connection = 'good' | 'offline' | 'silent';

/** Until the service is looked for again: longer each time, since one that is down is down for a while. */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;

let connection: Connection = 'good';
let waitMs = FIRST_WAIT_MS;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const waiting = new Set<() => void>();

/** A question was answered, if only by a refusal. */
export function tellAnswered(): void {
  waitMs = FIRST_WAIT_MS;
  if (connection !== 'good') reached();
}

/** A question has not reached the service, which is looked for from now on. */
export function tellUnreached(): void {
  become(navigator.onLine ? 'silent' : 'offline');
  if (timer !== undefined) return;
  timer = setTimeout(() => void look(), waitMs);
  waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
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
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener();
}

/** Whoever waits may ask again. */
function reached(): void {
  clearTimeout(timer);
  timer = undefined;
  become('good');
  for (const back of waiting) back();
}

/** Asks whether the service is well, which costs no request of anybody's day. */
async function look(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  try {
    await fetch('/health', { cache: 'no-store' });
  } catch {
    return tellUnreached();
  }
  reached();
}

for (const change of ['online', 'offline']) {
  window.addEventListener(change, () => {
    waitMs = FIRST_WAIT_MS;
    void look();
  });
}
if (!navigator.onLine) void look();
