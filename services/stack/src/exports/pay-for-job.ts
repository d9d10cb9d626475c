// Charges a key for the file of a job: once, at whatever nodes and how often it is fetched.
import { randomUUID } from 'node:crypto';
import { StoreError } from '@strata/db';
import { Refusal, type RequestContext } from '@strata/http';
import type { JobTable } from '../store/index.ts';
import type { Changes } from './changes.ts';
import { type Job, jobRemoved } from './job.ts';
import { priceOf } from './price.ts';

export type Payer = Pick<RequestContext, 'charge' | 'signal'>;

/** Longer than a charge takes: three tries of at most 15 s. */
const PAYMENT_MS = 60_000;

/**
 * One payment for requests that come at once: the lease of the job is held for it. Without a charge, later answers still report
 * the quota. If the process is killed, the connection is lost while the key is charged, or the payment cannot be saved, the lease ends
 * without being released: whether the key was charged is then unknown, and it is not charged again.
 */
export async function payForJob(
  { id }: Pick<Job, 'id'>,
  { charge, signal }: Payer,
  { table, changes }: { readonly table: JobTable; readonly changes: Changes },
): Promise<void> {
  // Of this request alone.
  const owner = randomUUID();
  while (!signal.aborted) {
    const { version } = changes;
    const known = (await table.find(id)) ?? jobRemoved();
    if (known.is_paid) return await charge(0);
    const taken = await table.take({ owner, ms: PAYMENT_MS }, id);
    if (!taken) {
      // After a payment that failed, one of the waiting requests tries it.
      await changes.wait(version, signal);
      continue;
    }
    const { job, isAbandoned } = taken;
    const release = async (is_paid: boolean) => {
      await table.save({ ...job, is_paid }, { owner, ms: 0 });
      changes.notify();
    };
    if (isAbandoned || job.is_paid) await release(true);
    else {
      await charge(priceOf(job.rows)).catch(async (error: unknown) => {
        if (!isInDoubt(error)) await release(false);
        throw error;
      });
      return await release(true);
    }
  }
  throw new Refusal('unavailable', 'The client has closed the connection.');
}

/** Whether the charge may have been committed although it failed. */
const isInDoubt = (error: unknown): boolean =>
  error instanceof StoreError && (error.code === 'connection-lost' || error.code === 'too-slow');
