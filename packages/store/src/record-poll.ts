// One poll's outcome in one transaction: the feed's state, items that were not known, and the domains that these name.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely, Selectable, Transaction } from 'kysely';
import { itemRow, MOST_URL, type NewItem, type PolledFeed, type RecordedPoll, stateRow } from './feed-records.ts';
import { mergeFeed } from './feed-removal.ts';
import { plan } from './plan.ts';
import type { Database } from './schema.ts';

export interface PollRecordOptions {
  /** When the feed was asked. */
  readonly at: Date;
  /** Items of before are not kept. */
  readonly keepFrom: Date;
}

const DAY_MS = 86_400_000;
/** An item without a date is marked as still there when the last mark is this old: not with every poll. */
const SEEN_AGAIN_MS = 30 * DAY_MS;
const ITEMS_A_TURN = 50;

export type RecordPoll = (feedId: number, polled: PolledFeed, options: PollRecordOptions) => Promise<RecordedPoll>;

/** The same outcome given twice changes nothing. One that is older than the last one adds its items alone. */
export function createPollRecorder(db: Kysely<Database>): RecordPoll {
  const plans = createPlans(db);
  return (feedId, polled, options) =>
    db.transaction().execute(async (tx) => {
      const feed = await tx.selectFrom('feeds').where('id', '=', feedId).selectAll().executeTakeFirst();
      if (!feed) return { kind: 'removed', items: 0, mentions: 0, domains: [] };
      const added = { items: 0, mentions: 0, domains: new Set<string>() };
      for (const [at, item] of (polled.feed?.items ?? []).entries()) {
        // A feed may bring a thousand items: others have their turn meanwhile, while their writes wait for ours.
        if (at % ITEMS_A_TURN === ITEMS_A_TURN - 1) await nextTurn();
        const names = await addItem(tx, plans, { feedId, item, ...options });
        if (!names) continue;
        added.items += 1;
        added.mentions += names.length;
        for (const name of names) added.domains.add(name);
      }
      const counts = { items: feed.items + added.items, mentions: feed.mentions + added.mentions };
      const isMerged = await writeState(tx, { ...feed, ...counts }, polled.state, options.at.getTime());
      return { ...added, kind: isMerged ? 'merged' : 'recorded', domains: [...added.domains] };
    });
}

type FeedRow = Selectable<Database['feeds']>;

/** Returns whether the feed's new address was another's already, which then has all that this one had. */
async function writeState(
  tx: Transaction<Database>,
  feed: FeedRow,
  state: PolledFeed['state'],
  at: number,
): Promise<boolean> {
  const { id, items, mentions } = feed;
  if (at < (feed.polled_at ?? 0)) {
    await tx.updateTable('feeds').set({ items, mentions }).where('id', '=', id).execute();
    return false;
  }
  const update = (url: string) =>
    tx
      .updateTable('feeds')
      .set({ ...stateRow(state), url, items, mentions, polled_at: at })
      .where('id', '=', id)
      .execute();
  if (state.url === feed.url || state.url.length > MOST_URL) {
    await update(feed.url);
    return false;
  }
  const other = await tx.selectFrom('feeds').where('url', '=', state.url).select('id').executeTakeFirst();
  if (!other) {
    await update(state.url);
    return false;
  }
  await update(feed.url);
  await mergeFeed(tx, { from: id, into: other.id });
  // What leads to a feed that was given up says that it lives.
  await tx
    .updateTable('feeds')
    .set({ ...stateRow(state), polled_at: at })
    .where('id', '=', other.id)
    .where((eb) => eb.or([eb('polled_at', 'is', null), eb('polled_at', '<=', at)]))
    .execute();
  return true;
}

interface ItemOfFeed extends PollRecordOptions {
  readonly feedId: number;
  readonly item: NewItem;
}

/** The domains that a new item names; undefined when the item is known or too old. */
async function addItem(
  tx: Transaction<Database>,
  plans: Plans,
  { feedId, item, ...options }: ItemOfFeed,
): Promise<string[] | undefined> {
  const found = options.at.getTime();
  const at = Math.min(item.publishedAt ?? found, found);
  if (at < options.keepFrom.getTime()) return undefined;
  const [inserted] = await plans.insertItem(tx, { feed_id: feedId, ...itemRow(item), kept_at: at });
  if (!inserted) {
    if (item.publishedAt === null)
      await plans.seeAgain(tx, { feedId, key: item.key, at: found, before: found - SEEN_AGAIN_MS });
    return undefined;
  }
  // An item that names a domain twice, which readers do not give, counts once. The first kind stands.
  const kinds = new Map<string, 'link' | 'content'>();
  for (const { domain, kind } of item.domains) if (!kinds.has(domain)) kinds.set(domain, kind);
  for (const [domain, kind] of kinds) {
    const [named] = await plans.nameDomain(tx, { name: domain, at });
    if (!named) throw new Error('a domain that was written has no number');
    await plans.insertMention(tx, { item_id: inserted.id, feed_id: feedId, domain_id: named.id, kind, at });
    await plans.countPair(tx, { domain_id: named.id, feed_id: feedId, at });
  }
  return [...kinds.keys()];
}

type Plans = ReturnType<typeof createPlans>;
type ItemRow = Omit<Selectable<Database['feed_items']>, 'id'>;
type MentionRow = Omit<Selectable<Database['feed_mentions']>, 'id'>;

/** What runs for every item. */
function createPlans(db: Kysely<Database>) {
  return {
    insertItem: plan(({ feed_id, key, url, title, published_at, kept_at }: ItemRow) =>
      db
        .insertInto('feed_items')
        .values({ feed_id, key, url, title, published_at, kept_at })
        .onConflict((conflict) => conflict.columns(['feed_id', 'key']).doNothing())
        .returning('id'),
    ),
    seeAgain: plan(({ feedId, key, at, before }: { feedId: number; key: string; at: number; before: number }) =>
      db
        .updateTable('feed_items')
        .set({ kept_at: at })
        .where('feed_id', '=', feedId)
        .where('key', '=', key)
        .where('kept_at', '<', before),
    ),
    nameDomain: plan(({ name, at }: { name: string; at: number }) =>
      db
        .insertInto('named_domains')
        .values({ name, mentions: 1, first_at: at, last_at: at })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet((eb) => ({
            mentions: eb('named_domains.mentions', '+', 1),
            first_at: eb
              .case()
              .when('named_domains.first_at', '<', eb.ref('excluded.first_at'))
              .then(eb.ref('named_domains.first_at'))
              .else(eb.ref('excluded.first_at'))
              .end(),
            last_at: eb
              .case()
              .when('named_domains.last_at', '>', eb.ref('excluded.last_at'))
              .then(eb.ref('named_domains.last_at'))
              .else(eb.ref('excluded.last_at'))
              .end(),
          })),
        )
        .returning('id'),
    ),
    insertMention: plan(({ item_id, feed_id, domain_id, kind, at }: MentionRow) =>
      db.insertInto('feed_mentions').values({ item_id, feed_id, domain_id, kind, at }),
    ),
    countPair: plan(({ domain_id, feed_id, at }: { domain_id: number; feed_id: number; at: number }) =>
      db
        .insertInto('feed_domains')
        .values({ domain_id, feed_id, mentions: 1, last_at: at })
        .onConflict((conflict) =>
          conflict.columns(['domain_id', 'feed_id']).doUpdateSet((eb) => ({
            mentions: eb('feed_domains.mentions', '+', 1),
            last_at: eb
              .case()
              .when('feed_domains.last_at', '>', eb.ref('excluded.last_at'))
              .then(eb.ref('feed_domains.last_at'))
              .else(eb.ref('excluded.last_at'))
              .end(),
          })),
        ),
    ),
  };
}
