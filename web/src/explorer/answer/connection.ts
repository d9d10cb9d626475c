// Whether the service can be reached, from the outcome of the last request. The browser's own state only selects the
// message, since a service on the local machine can be reached without a network.
import { observable, useObservable } from '../../ui/observable.ts';

/** `offline`: the browser has no network. `unreachable`: it has one, but the service does not respond. */
type Connection = 'online' | 'offline' | 'unreachable';

/** Exponential backoff between health checks. */
const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 30_000;

const connection = observable<Connection>('online');
const reconnectListeners = new Set<() => void>();
let waitMs = FIRST_WAIT_MS;
let timer: ReturnType<typeof setTimeout> | undefined;

export const currentConnection = connection.get;
export const useConnection = (): Connection => useObservable(connection);

/** A request was answered, possibly with an error. */
export function reportAnswered(): void {
  waitMs = FIRST_WAIT_MS;
  if (connection.get() !== 'online') setReachable();
}

/** A request did not reach the service: starts the health checks. */
export function reportUnreachable(): void {
  connection.set(navigator.onLine ? 'unreachable' : 'offline');
  if (timer !== undefined) return;
  timer = setTimeout(() => void checkHealth(), waitMs);
  waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
}

/** Calls back each time the service becomes reachable again. */
export function onReconnect(back: () => void): () => void {
  reconnectListeners.add(back);
  return () => reconnectListeners.delete(back);
}

function setReachable(): void {
  clearTimeout(timer);
  timer = undefined;
  connection.set('online');
  for (const back of reconnectListeners) back();
}

/** Whether the service answers; `/health` does not count against the quota. */
export async function isReachable(): Promise<boolean> {
  try {
    await fetch('/health', { cache: 'no-store' });
    return true;
  } catch {
    return false;
  }
}

async function checkHealth(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  if (await isReachable()) setReachable();
  else reportUnreachable();
}

for (const change of ['online', 'offline']) {
  addEventListener(change, () => {
    waitMs = FIRST_WAIT_MS;
    void checkHealth();
  });
}
if (!navigator.onLine) void checkHealth();
