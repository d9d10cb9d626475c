// Which gateways have ended or are suspended, from their heartbeats as this gateway reads them: no clock is compared with another's.
import { LRUCache } from 'lru-cache';
import type { StoredState } from '../../store/index.ts';

/** A gateway without a heartbeat for this long, three of them, has ended or is suspended. Taking its answers over is always safe. */
const SILENT_MS = 3_000;

export class SilentGateways {
  /** By gateway: its heartbeat, and since when that is the newest. */
  readonly #observed = new LRUCache<number, { readonly heartbeat: number; readonly sinceMs: number }>({ max: 1_000 });

  /** Whether the heartbeat just read, undefined for a gateway that was removed, has not changed for too long. */
  has({ gateway, heartbeat }: NonNullable<StoredState['owner']>): boolean {
    if (heartbeat === undefined) return true;
    const observed = this.#observed.get(gateway);
    const nowMs = performance.now();
    if (observed && observed.heartbeat === heartbeat) return nowMs - observed.sinceMs >= SILENT_MS;
    this.#observed.set(gateway, { heartbeat, sinceMs: nowMs });
    return false;
  }
}
