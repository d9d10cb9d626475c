// Whether the service can be reached, from the outcome of the last request. The browser's own state only selects the
// message, since a service on the local machine can be reached without a network.
import { useSyncExternalStore } from 'react';

/** `offline`: the browser has no network. `unreachable`: it has one, but the service does not respond. */
type Connection = 'online' | 'offline' | 'unreachable';

/** Exponential backoff between health checks. */
const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 30_000;

let connection: Connection = 'online';
let waitMs = FIRST_WAIT_MS;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const reconnectListeners = new Set<() => void>();

/** A request was answered, possibly with an error. */
export function reportAnswered(): void {
  waitMs = FIRST_WAIT_MS;
  if (connection !== 'online') setReachable();
}

/** A request did not reach the service: starts the health checks. */
export function reportUnreachable(): void {
  setConnection(navigator.onLine ? 'unreachable' : 'offline');
  if (timer !== undefined) return;
  timer = setTimeout(() => void checkHealth(), waitMs);
  waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
}

export function currentConnection(): Connection {
  return connection;
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, currentConnection);
}

/** Calls back each time the service becomes reachable again. */
export function onReconnect(back: () => void): () => void {
  reconnectListeners.add(back);
  return () => reconnectListeners.delete(back);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function setConnection(next: Connection): void {
  if (next === connection) return;
  connection = next;
  for (const listener of listeners) listener();
}

function setReachable(): void {
  clearTimeout(timer);
  timer = undefined;
  setConnection('online');
  for (const back of reconnectListeners) back();
}

/** Requests `/health`, which does not count against the quota. */
async function checkHealth(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  try {
    await fetch('/health', { cache: 'no-store' });
  } catch {
    return reportUnreachable();
  }
  setReachable();
}

for (const change of ['online', 'offline']) {
  window.addEventListener(change, () => {
    waitMs = FIRST_WAIT_MS;
    void checkHealth();
  });
}
if (!navigator.onLine) void checkHealth();
