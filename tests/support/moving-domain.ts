// A domain whose mail moves from one provider to another and back, for events of the stream; each second scan confirms a change.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '@strata/db';
import type { Store } from '@strata/stack/store';
import { confirm, day, exchangeOn, HOUR, recordScan, scanOf } from '../../services/stack/src/store/test/scans.ts';

/** Records scans, a day apart from the last that is stored, until SIGTERM. */
export async function keepMoving(store: Store, domain: string): Promise<void> {
  const ended = once(process, 'SIGTERM').then(() => true);
  do {
    try {
      // Its scans are of times long past: one that a request has added would be forgotten.
      await store.domains.add([domain], { source: 'test' });
      const lastAt = (await store.domains.profile(domain))?.scannedAt.getTime() ?? Date.parse(day(-1));
      const n = Math.floor((lastAt - Date.parse(day(0))) / (24 * HOUR)) + 1;
      await recordScan(store, scanOf(domain, day(n), exchangeOn(n)), confirm);
    } catch (error) {
      // The database is away, or its disk is full. Another error must not end the process, whose faults are the subject.
      if (!(error instanceof StoreError)) console.error('moving domain:', error);
    }
  } while (!(await Promise.race([ended, delay(20, false)])));
}
