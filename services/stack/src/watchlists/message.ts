// Messages with notifications in the form of each kind of channel.
import { createHmac } from 'node:crypto';
import type { StoredNotification } from '../store/index.ts';
import type { Channel, Watchlist } from './watchlist.ts';

/** A message to a channel; without notifications it is a test. */
export interface Message {
  readonly id: string;
  readonly list: Pick<Watchlist, 'id' | 'name'>;
  readonly createdAt: Date;
  readonly notifications: readonly StoredNotification[];
}

/** A request that carries a message: JSON by POST. */
export interface MessageRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Lines of a message for people. */
const MAX_LINES = 20;

interface RequestOptions {
  /** The time of the attempt. */
  readonly at: Date;
  /** Public address of this service; without it, messages have no links. */
  readonly base?: string | undefined;
}

export function requestOf(
  channel: Pick<Channel, 'kind' | 'secret'>,
  message: Message,
  { at, base }: RequestOptions,
): MessageRequest {
  const type = { 'content-type': 'application/json' };
  switch (channel.kind) {
    case 'webhook': {
      const body = JSON.stringify(payloadOf(message));
      return { body, headers: { ...type, ...signatureOf(message.id, body, { at, secret: channel.secret ?? '' }) } };
    }
    case 'slack': {
      const lines = linesOf(message).map(({ text, domain }) => {
        return `• ${slackText(text)}${base && domain ? ` <${pageOf(domain, base)}|${domain}>` : ''}`;
      });
      return {
        body: JSON.stringify({ text: [`*${slackText(titleOf(message))}*`, ...lines].join('\n') }),
        headers: type,
      };
    }
    case 'teams':
      return { body: JSON.stringify(cardOf(message, base)), headers: type };
    case 'email':
      throw new TypeError('an e-mail is not sent by a request');
    default:
      return channel.kind satisfies never;
  }
}

/** Standard Webhooks: `type`, `timestamp` and `data`. The same in every attempt. */
function payloadOf({ list, createdAt, notifications }: Message) {
  const type = notifications.length === 0 ? 'watchlist.test' : 'watchlist.notifications';
  const data = {
    watchlist: { id: list.id, name: list.name },
    notifications: notifications.map(({ id, createdAt: _created, ...notification }) => ({
      id: notificationId(id),
      ...notification,
    })),
  };
  return { type, timestamp: createdAt.toISOString(), data };
}

export const notificationId = (id: number) => `nt_${id}`;

/** The headers of https://github.com/standard-webhooks/standard-webhooks, version 1: HMAC-SHA256 over `id.timestamp.body`. */
function signatureOf(id: string, body: string, { at, secret }: { readonly at: Date; readonly secret: string }) {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

export function titleOf({ list, notifications }: Message): string {
  const { length } = notifications;
  if (length === 0) return `${list.name}: test of this channel`;
  return `${list.name}: ${length} ${length === 1 ? 'notification' : 'notifications'}`;
}

interface Line {
  readonly text: string;
  /** The last line may be of several. */
  readonly domain?: string;
}

export function linesOf({ notifications }: Message, max = MAX_LINES): Line[] {
  const lines: Line[] = notifications.slice(0, max).map(({ title, domain }) => ({ text: title, domain }));
  const more = notifications.length - lines.length;
  return more > 0 ? [...lines, { text: `and ${more} more` }] : lines;
}

export const pageOf = (domain: string, base: string): string => `${base}/domain/${domain}`;

/** Slack's control characters; a link or a mention needs them. */
const slackText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** An Adaptive Card, which the workflows of Teams accept. */
function cardOf(message: Message, base: string | undefined) {
  const text = (content: string, more: object) => ({ type: 'TextBlock', wrap: true, text: content, ...more });
  const body = [
    text(plainMarkdown(titleOf(message)), { weight: 'Bolder', size: 'Medium' }),
    ...linesOf(message).map((line) => {
      const link = base && line.domain ? ` [${line.domain}](${pageOf(line.domain, base)})` : '';
      return text(`${plainMarkdown(line.text)}${link}`, { spacing: 'Small' });
    }),
  ];
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body,
  };
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] };
}

/** The characters of links and emphasis in the Markdown of cards. */
const plainMarkdown = (text: string) => text.replaceAll(/[\\[\]*_`]/g, '\\$&');
