// Sends due messages of watchlists, retries failed ones, and gives up after about three days. Only the scheduler sends.
import { FailureLog } from '@strata/http';
import type { Fetcher } from '@strata/scan';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import type { Attempted, Store, StoredDelivery } from '../store/index.ts';
import type { Mailer, MailOutcome } from './mailer.ts';
import { type Message, requestOf } from './message.ts';
import { retryAfterMs } from './schedule.ts';
import type { Channel } from './watchlist.ts';

export interface SenderDeps {
  readonly store: Pick<Store, 'watchlists' | 'keys' | 'notifications' | 'deliveries'>;
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  /** Undefined without a mail server. */
  readonly mailer?: Mailer | undefined;
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
/** Messages in flight, one for each list and some for each receiver, so that a slow one delays no other. */
const MAX_IN_FLIGHT = 32;
const MAX_PER_RECEIVER = 4;
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
  const inFlight = new Map<string, { readonly receiver: string; readonly sent: Promise<unknown> }>();
  const busy = () => {
    const receivers = Map.groupBy(inFlight.values(), ({ receiver }) => receiver);
    return [...receivers].filter(([, some]) => some.length >= MAX_PER_RECEIVER).map(([receiver]) => receiver);
  };
  let prunedAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    try {
      const limit = MAX_IN_FLIGHT - inFlight.size;
      const except = { lists: [...inFlight.keys()], receivers: busy() };
      const due = limit > 0 ? await store.deliveries.due(now(), { limit, ...except }) : [];
      for (const delivery of due) {
        const { watchlistId, receiver } = delivery;
        if (inFlight.has(watchlistId) || busy().includes(receiver)) continue;
        const sent = attempt(deps, delivery, signal).catch(async (error: unknown) => {
          failures.failed(error);
          // Its result is not stored: without a pause it would be sent again at once.
          await sleep(FAILED_MS, signal);
        });
        inFlight.set(watchlistId, { receiver, sent: sent.finally(() => inFlight.delete(watchlistId)) });
      }
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
  const { store, now, random = Math.random } = deps;
  const outcome = await outcomeOf(deps, delivery, signal);
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
  { fetcher, now }: SenderDeps,
  channel: Channel,
  message: Message,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { body, headers } = requestOf(channel, message, now());
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
