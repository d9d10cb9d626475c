// The e-mail addresses that keys name, and whether their owners agree: before that, an address receives only the question.
import { randomBytes } from 'node:crypto';
import { listed } from '@strata/db';
import type { Kysely, Transaction } from 'kysely';
import type { AddressState, Channel, Watchlist } from '../../watchlists/watchlist.ts';
import type { Database } from '../schema.ts';
import { messageRow } from './add-messages.ts';

export type AddressProblem = 'address_refused' | 'asked_too_often';

const DAY_MS = 86_400_000;
/** Questions a day: to a mailbox from all keys, and from a key. Otherwise a client could flood a mailbox with them. */
const MAX_PER_MAILBOX = 3;
const MAX_PER_KEY = 20;

export class AddressTable {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  /** The address of the link in a message; undefined for an unknown token. */
  async find(token: string): Promise<string | undefined> {
    const row = this.#db.selectFrom('watchlist_addresses').where('token', '=', token).select('address');
    return (await row.executeTakeFirst())?.address;
  }

  /** Stores the decision of the owner of an address. */
  async decide(token: string, state: AddressState): Promise<void> {
    await this.#db.updateTable('watchlist_addresses').set({ state }).where('token', '=', token).execute();
  }
}

/**
 * Adds a message to each address of the channels whose owner was not asked for this key, or asked a day ago without an answer. Returns
 * why this is not allowed, and then writes nothing.
 */
export async function askAddresses(
  tx: Transaction<Database>,
  { id, keyId, channels }: Pick<Watchlist, 'id' | 'keyId' | 'channels'>,
  now: number,
): Promise<AddressProblem | undefined> {
  const named = channels.filter(({ kind }) => kind === 'email');
  if (named.length === 0) return undefined;
  const addresses = tx.selectFrom('watchlist_addresses');
  const ofKey = addresses.where('key_id', '=', keyId);
  const known = await ofKey
    .where('address', 'in', listed(tx, named.map(addressOf)))
    .selectAll()
    .execute();
  const isSettled = ({ target }: Channel) =>
    known.some(({ address, state, asked_at: at }) => address === target && (state !== 'waiting' || at > now - DAY_MS));
  const asked = named.filter((channel) => !isSettled(channel));
  for (const { target } of asked) {
    const same = addresses.where('mailbox', '=', mailboxOf(target));
    const barring = same.where((of) => of.or([of('asked_at', '>', now - DAY_MS), of('state', '=', 'refused')]));
    const rows = await barring.select('state').limit(MAX_PER_MAILBOX).execute();
    if (rows.some(({ state }) => state === 'refused')) return 'address_refused';
    if (rows.length === MAX_PER_MAILBOX) return 'asked_too_often';
  }
  const recent = await ofKey
    .where('asked_at', '>', now - DAY_MS)
    .select('address')
    .limit(MAX_PER_KEY)
    .execute();
  if (asked.length > 0 && recent.length + asked.length > MAX_PER_KEY) return 'asked_too_often';
  for (const channel of asked) {
    const [address, token] = [channel.target, randomBytes(24).toString('base64url')];
    const row = {
      key_id: keyId,
      address,
      mailbox: mailboxOf(address),
      token,
      state: 'waiting',
      asked_at: now,
    } as const;
    await tx
      .insertInto('watchlist_addresses')
      .values(row)
      .onConflict((conflict) => conflict.columns(['key_id', 'address']).doUpdateSet({ asked_at: now }))
      .execute();
    const message = messageRow({ watchlistId: id, channel, notifications: [], dueAt: now }, now);
    await tx
      .insertInto('watchlist_deliveries')
      .values({ ...message, kind: 'confirmation' })
      .execute();
  }
  return undefined;
}

/** The lists with the decisions about their addresses. */
export async function withConfirmations(db: Kysely<Database>, lists: readonly Watchlist[]): Promise<Watchlist[]> {
  const named = lists.flatMap(({ channels }) => channels).filter(({ kind }) => kind === 'email');
  if (named.length === 0) return [...lists];
  const rows = await db
    .selectFrom('watchlist_addresses')
    .where('key_id', 'in', listed(db, [...new Set(lists.map(({ keyId }) => keyId))]))
    .where('address', 'in', listed(db, named.map(addressOf)))
    .selectAll()
    .execute();
  const confirmation = (keyId: string, { kind, target }: Channel) =>
    kind === 'email' ? rows.find(({ key_id, address }) => key_id === keyId && address === target) : undefined;
  return lists.map((list) => {
    const channels = list.channels.map((each) => ({ ...each, confirmation: confirmation(list.keyId, each) }));
    return { ...list, channels };
  });
}

const addressOf = ({ target }: Channel) => target;

/** `a+tag@b.com` is the mailbox of `a@b.com`. */
function mailboxOf(address: string): string {
  const [local = '', domain] = address.split('@');
  return `${local.split('+', 1)[0]}@${domain}`;
}
