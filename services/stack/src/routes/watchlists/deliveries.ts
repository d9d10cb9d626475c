// What the rules of a watchlist reported, and the messages that were sent about it.
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { DELIVERY_KINDS, DELIVERY_STATES, type StoredDelivery } from '../../store/index.ts';
import { notificationId } from '../../watchlists/message.ts';
import { RULE_KINDS } from '../../watchlists/watchlist.ts';
import { pageFields, pageOf, pageParameters } from '../paging.ts';
import { refuseField, Word } from '../parameters.ts';
import { common, ownList, WatchlistPath } from './watchlists.ts';

const NotificationSchema = z
  .object({
    id: z.string(),
    rule: z.enum(RULE_KINDS),
    at: z.iso.datetime().describe('Time of the event.'),
    created_at: z.iso.datetime(),
    domain: z.string(),
    domains: z.array(z.string()).optional(),
    title: z.string(),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    ref: z.string().describe('Path of the underlying data.'),
  })
  .meta({ id: 'WatchNotification' });

const DeliverySchema = z
  .object({
    id: z.string().describe('The `webhook-id` of the message, the same in every attempt.'),
    channel: z.string(),
    kind: z.enum(DELIVERY_KINDS).describe('confirmation: asks the owner of an e-mail address.'),
    notifications: z.int(),
    state: z.enum(DELIVERY_STATES).describe('dead: given up.'),
    attempts: z.int(),
    created_at: z.iso.datetime(),
    next_attempt_at: z.iso.datetime().nullable(),
    finished_at: z.iso.datetime().nullable(),
    status: z.int().nullable().describe('HTTP status, or reply of the mail server, of the last attempt.'),
    error: z.string().nullable(),
  })
  .meta({ id: 'WatchDelivery' });

const deliveryReport = (delivery: StoredDelivery): z.input<typeof DeliverySchema> => ({
  ...{ id: delivery.messageId, channel: delivery.channel, kind: delivery.kind, notifications: delivery.notifications },
  ...{ state: delivery.state, attempts: delivery.attempts, created_at: delivery.createdAt.toISOString() },
  next_attempt_at: delivery.state === 'pending' ? delivery.dueAt.toISOString() : null,
  finished_at: delivery.finishedAt?.toISOString() ?? null,
  ...{ status: delivery.status, error: delivery.error },
});

const NOTIFICATIONS = { name: 'notifications', key: z.int() };
const DELIVERIES = { name: 'deliveries', key: z.int() };

export const getNotifications = route(
  {
    ...common,
    method: 'GET',
    path: '/stack/v1/watchlists/{id}/notifications',
    summary: 'What the rules of a watchlist reported',
    description: 'Newest first, kept for 120 days.',
    params: WatchlistPath,
    query: z.object(pageParameters(50)),
    output: { kind: 'signed', schema: z.object({ ...pageFields, notifications: z.array(NotificationSchema) }) },
    errors: ['not_found'],
  },
  async (app: StackApp, input, context) => {
    const list = await ownList(app, input.id, context);
    const page = pageOf(input, NOTIFICATIONS, list.id);
    const found = await app.store.notifications.list(list.id, page.query.limit, page.query.after);
    const { rows, fields } = page.cut(found, ({ id }) => id);
    const notifications = rows.map(({ id, createdAt, domains, ...rest }) => ({
      ...{
        id: notificationId(id),
        created_at: createdAt.toISOString(),
        ...rest,
        ...(domains && { domains: [...domains] }),
      },
    }));
    return { ...fields, notifications };
  },
);

export const getDeliveries = route(
  {
    ...common,
    method: 'GET',
    path: '/stack/v1/watchlists/{id}/deliveries',
    summary: 'Messages to the channels of a watchlist',
    description:
      'Newest first, kept for 120 days. A message is retried for about three days, then its state is `dead`.',
    params: WatchlistPath,
    query: z.object({ state: Word(DELIVERY_STATES).optional(), ...pageParameters(50) }),
    output: { kind: 'signed', schema: z.object({ ...pageFields, deliveries: z.array(DeliverySchema) }) },
    errors: ['not_found'],
  },
  async (app: StackApp, input, context) => {
    const list = await ownList(app, input.id, context);
    const { state } = input;
    const page = pageOf(input, DELIVERIES, [list.id, state]);
    const { limit, after: before } = page.query;
    const found = await app.store.deliveries.list(list.id, { state, limit, before });
    const { rows, fields } = page.cut(found, ({ id }) => id);
    return { ...fields, deliveries: rows.map(deliveryReport) };
  },
);

export const replayDelivery = route(
  {
    ...common,
    method: 'POST',
    path: '/stack/v1/watchlists/{id}/deliveries/{delivery}:replay',
    summary: 'Send a message again',
    description: 'With the same id and content, whatever its state. A message that waits is sent now.',
    params: WatchlistPath.extend({ delivery: z.string().regex(/^msg_[\w-]{20}$/, 'must be the id of a delivery') }),
    output: { kind: 'signed', schema: z.object({ delivery: DeliverySchema }) },
    errors: ['not_found'],
  },
  async (app: StackApp, input, context) => {
    const list = await ownList(app, input.id, context);
    const delivery = await app.store.deliveries.replay(list.id, input.delivery, app.now());
    if (!delivery) return context.refuse('not_found', 'The watchlist has no delivery with this id.');
    return { delivery: deliveryReport(delivery) };
  },
);

export const testWatchlist = route(
  {
    ...common,
    method: 'POST',
    path: '/stack/v1/watchlists/{id}:test',
    summary: 'Send a test message to each channel',
    description:
      'Within about a second, also in quiet hours. The deliveries show the result. An e-mail address that did not confirm within a day is asked again.',
    params: WatchlistPath,
    output: { kind: 'signed', schema: z.object({ deliveries: z.array(DeliverySchema) }) },
    errors: ['not_found'],
  },
  async (app: StackApp, input, context) => {
    const list = await ownList(app, input.id, context);
    if (list.channels.length === 0) return refuseField('id', 'is a watchlist without channels');
    const deliveries = await app.store.deliveries.addTests(list, app.now());
    if (!deliveries) return refuseField('id', 'is a watchlist whose last test is not sent yet');
    return { deliveries: deliveries.map(deliveryReport) };
  },
);
