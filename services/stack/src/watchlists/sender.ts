// Sends due messages of watchlists, retries failed ones, and gives up after about three days. Only the scheduler sends.
import { StoreError } from '@strata/db';
import { FailureLog } from '@strata/http';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import type { Attempted, DueDelivery, Store, StoredDelivery } from '../store/index.ts';
import type { Mailer, MailOutcome } from './mailer.ts';
import { type Message, requestOf } from './message.ts';
import { retryAfterMs } from './schedule.ts';
import type { Channel } from './watchlist.ts';

export interface SenderDeps {
  readonly store: Pick<Store, 'watchlists' | 'keys' | 'notifications' | 'deliveries'>;
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  /** Undefined without a mail server. */
  readonly mailer?: Mailer | undefined;
  /** Public address of this service, for links. */
  readonly base?: string | undefined;
  readonly logger: Logger;
  /** The clock of deliveries. */
  readonly now: () => Date;
  readonly random?: () => number;
}

/** The result of one attempt. */
interface Outcome extends MailOutcome {
  readonly askedMs?: number;
}

const POLL_MS = 500;
const FAILED_MS = 5_000;
/** Messages in flight, one for each list and some for each receiver and key, so that a slow one delays no other. */
const MAX_IN_FLIGHT = 32;
const MAX_PER_RECEIVER = 4;
const MAX_PER_KEY = 8;
/** The last slots are for keys without a message in flight, so that keys alternate if all slots are in use. */
const SLOTS_FOR_IDLE_KEYS = 8;
const TIMEOUT_MS = 10_000;
/** Nothing of an answer but its status is used. */
const MAX_ANSWER_BYTES = 4_096;
/** Longer than a certificate is reported: a rule reports an event once for as long as its notification is kept. */
const KEEP_MS = 120 * 86_400_000;
/** The lists of a revoked key: time to correct a mistake. */
const KEEP_REVOKED_MS = 30 * 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNE_ROWS = 500;
/** A receiver may ask for at most a day. */
const MAX_ASKED_MS = 86_400_000;

/** Sends until `signal` aborts; messages in flight end first. */
export async function sendDeliveries(deps: SenderDeps, signal: AbortSignal): Promise<void> {
  const { store, logger, now } = deps;
  const failures = new FailureLog(logger, { what: 'sending notifications' });
  const inFlight = new Map<string, Pick<DueDelivery, 'keyId' | 'receiver'> & { readonly sent: Promise<unknown> }>();
  const busy = (of: 'keyId' | 'receiver', max: number) => {
    const counts = Map.groupBy(inFlight.values(), (each) => each[of]);
    return [...counts].filter(([, some]) => some.length >= max).map(([each]) => each);
  };
  const busyNow = () => {
    const isScarce = inFlight.size >= MAX_IN_FLIGHT - SLOTS_FOR_IDLE_KEYS;
    const keys = busy('keyId', isScarce ? 1 : MAX_PER_KEY);
    return { keys, lists: [...inFlight.keys()], receivers: busy('receiver', MAX_PER_RECEIVER) };
  };
  let prunedAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    try {
      const limit = MAX_IN_FLIGHT - inFlight.size;
      const due = limit > 0 ? await store.deliveries.due(now(), { limit, ...busyNow() }) : [];
      const before = inFlight.size;
      for (const delivery of due) {
        const { watchlistId, receiver, keyId } = delivery;
        const { keys, lists, receivers } = busyNow();
        if (lists.includes(watchlistId) || receivers.includes(receiver) || keys.includes(keyId)) continue;
        const sent = attempt(deps, delivery, signal).catch(async (error: unknown) => {
          failures.failed(error);
          // Its result is not stored: without a pause it would be sent again at once.
          await sleep(FAILED_MS, signal);
        });
        inFlight.set(watchlistId, { keyId, receiver, sent: sent.finally(() => inFlight.delete(watchlistId)) });
      }
      // Instead of the messages passed over, those of another list may be due.
      if (before < inFlight.size && inFlight.size < before + due.length) continue;
      const at = now().getTime();
      const old = { before: new Date(at - KEEP_MS), revoked: new Date(at - KEEP_REVOKED_MS), limit: PRUNE_ROWS };
      if (at - prunedAt > PRUNE_EVERY_MS && !(await store.notifications.prune(old))) prunedAt = at;
      failures.recovered();
    } catch (error) {
      failures.failed(error);
    }
    // As soon as a list is free again, its next message is sent.
    await Promise.race([sleep(POLL_MS, signal), ...[...inFlight.values()].map(({ sent }) => sent)]);
  }
  await Promise.all([...inFlight.values()].map(({ sent }) => sent));
}

async function attempt(deps: SenderDeps, delivery: StoredDelivery, signal: AbortSignal): Promise<void> {
  const { store, logger, now, random = Math.random } = deps;
  const outcome = await outcomeOf(deps, delivery, signal).catch((error: unknown): Outcome => {
    if (error instanceof StoreError) throw error;
    // Counts as an attempt: the message is not tried forever.
    logger.error({ err: error, delivery: delivery.id }, 'a notification could not be sent');
    return { isDelivered: false, status: null, error: 'internal error' };
  });
  // Interrupted by the end of the term: the message is sent again.
  if (!outcome) return;
  const at = now();
  const attempts = delivery.attempts + 1;
  const delay =
    // A test is sent once.
    outcome.isDelivered || outcome.isFinal || delivery.kind === 'test'
      ? undefined
      : retryAfterMs(attempts, { random, askedMs: outcome.askedMs ?? 0 });
  const state = outcome.isDelivered ? 'delivered' : delay === undefined ? 'dead' : 'pending';
  const { status, error } = outcome;
  const dueAt = delay === undefined ? undefined : new Date(at.getTime() + delay);
  const attempted: Attempted = { state, attempts, at, dueAt, status, error };
  await store.deliveries.record(delivery.id, attempted);
}

async function outcomeOf(
  deps: SenderDeps,
  delivery: StoredDelivery,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { store } = deps;
  const list = await store.watchlists.find(delivery.watchlistId);
  const channel = list?.channels.find(({ id }) => id === delivery.channel);
  if (!list || !channel) return rejected('the list no longer has this channel');
  if (!(await store.keys.stillValid([list.keyId])).has(list.keyId)) return rejected('the key of the list was revoked');
  const { messageId: id, firstNotification, lastNotification, kind, createdAt } = delivery;
  const { state, token = '' } = channel.confirmation ?? {};
  const isConfirmation = kind === 'confirmation';
  if (channel.kind === 'email' && state !== (isConfirmation ? 'waiting' : 'confirmed'))
    return rejected(isConfirmation ? 'the owner of the address has decided' : 'the address is not confirmed');
  const notifications =
    kind === 'notifications' ? await store.notifications.between(list.id, firstNotification, lastNotification) : [];
  const message = { id, list, createdAt, notifications };
  if (channel.kind !== 'email') return post(deps, channel, message, signal);
  if (!deps.mailer) return { isDelivered: false, status: null, error: 'e-mail is not set up' };
  return deps.mailer.send({ to: channel.target, token, message, isConfirmation });
}

const rejected = (error: string): Outcome => ({ isDelivered: false, status: null, error, isFinal: true });

/** The name is resolved and its address checked in each attempt; redirects are not followed. */
async function post(
  { fetcher, base, now }: SenderDeps,
  channel: Channel,
  message: Message,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { body, headers } = requestOf(channel, message, { at: now(), base });
  const limits = { maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, maxRedirects: 0, signal };
  const answer = await fetcher.fetch(channel.target, { method: 'POST', body, headers, ...limits });
  if (answer.kind === 'failed') {
    if (answer.reason === 'aborted') return undefined;
    return { isDelivered: false, status: null, error: answer.detail.slice(0, 200) };
  }
  const { status } = answer;
  if (status >= 200 && status < 300) return { isDelivered: true, status, error: null };
  const asked = Number(answer.headers['retry-after'] ?? 0) * 1_000;
  return {
    ...{ isDelivered: false, status, error: `answered ${status}` },
    // 410: the receiver was removed (Standard Webhooks).
    isFinal: status === 410,
    askedMs: asked > 0 ? Math.min(asked, MAX_ASKED_MS) : 0,
  };
}
