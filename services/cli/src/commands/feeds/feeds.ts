// `strata stack feeds`: adds, lists, removes, imports and exports subscriptions.
import { writeOpml } from '@strata/feeds';
import {
  type Config,
  feedAddress,
  feedsOfPage,
  MAX_LIST_BYTES,
  openConfiguredStore,
  openFetcher,
  readListFile,
  readSubscriptions,
  withoutCredentials,
} from '@strata/stack';
import type { AddedFeeds, Store, StoredFeed } from '@strata/stack/store';
import { readBounded } from '../../bounded-input.ts';
import type { CommandContext } from '../../context.ts';
import { CommandError, fileError, usageError } from '../../errors.ts';
import { counted, type OutputOptions, printJson, printRejected, printTable } from '../../output.ts';

const PAGE_SIZE = 1_000;
const MAX_ERROR_LENGTH = 60;
/** More URLs than these are added without checking each of them, which takes time. */
const MAX_CHECKED = 20;

export async function addFeedsCommand(
  context: CommandContext,
  urls: readonly string[],
  options: OutputOptions & { readonly check: boolean },
  config: Config,
): Promise<void> {
  const feeds = urls.map((url) => ({ url: addressOf(url) }));
  if (options.check && feeds.length <= MAX_CHECKED)
    await refusePages(
      feeds.map(({ url }) => url),
      config,
    );
  await using store = await openConfiguredStore(config);
  printAdded(context, await store.feeds.add(feeds, new Date()), options);
}

/** Refuses the URL of a web page, and lists the feeds that the page links to. */
async function refusePages(urls: readonly string[], config: Config): Promise<void> {
  await using fetcher = openFetcher(config, {});
  const pages = await Promise.all(urls.map(async (url) => ({ url, feeds: await feedsOfPage(fetcher, url) })));
  const problems = pages.flatMap(({ url, feeds }) => {
    if (feeds === undefined) return [];
    if (feeds.length === 0) return [`'${url}' is a web page, not a feed, and links to no feed`];
    return [`'${url}' is a web page, not a feed; it links to:\n${feeds.map((feed) => `  ${feed}`).join('\n')}`];
  });
  if (problems.length === 0) return;
  throw usageError(`${problems.join('\n')}\nnothing was added; --no-check skips this check`);
}

export async function removeFeedsCommand(
  { stdout }: CommandContext,
  urls: readonly string[],
  options: OutputOptions,
  config: Config,
): Promise<void> {
  const addresses = urls.map(addressOf);
  await using store = await openConfiguredStore(config);
  const unknown: string[] = [];
  let removed = 0;
  for (const url of addresses) {
    if (await store.feeds.remove(url)) removed += 1;
    else unknown.push(url);
  }
  if (options.json) printJson(stdout, { removed, unknown });
  else stdout.write(`${counted(removed, 'feed')} removed\n`);
  if (unknown.length > 0) throw new CommandError(`not subscribed to ${unknown.join(', ')}`);
}

export async function listFeedsCommand(
  { stdout }: CommandContext,
  options: OutputOptions & { readonly failing?: boolean },
  config: Config,
): Promise<void> {
  await using store = await openConfiguredStore(config);
  const all: StoredFeed[] = [];
  for await (const feed of everyFeed(store)) {
    const { status, failures } = feed.state;
    if (!options.failing || status === 'gone' || failures > 0) all.push(feed);
  }
  if (options.json) printJson(stdout, all.map(described));
  else if (all.length === 0)
    stdout.write(options.failing ? 'no failing feeds\n' : 'no feeds; add one with `strata stack feeds add URL`\n');
  else {
    const rows = all.map((feed) => [
      feed.state.url,
      stateText(feed),
      String(feed.items),
      String(feed.mentions),
      feed.polledAt?.toISOString() ?? 'never',
      (feed.state.error ?? feed.state.title ?? '').slice(0, MAX_ERROR_LENGTH),
    ]);
    printTable(stdout, ['url', 'state', 'items', 'mentions', 'last poll', 'title or error'], rows);
  }
}

export async function importFeedsCommand(
  context: CommandContext,
  file: string,
  options: OutputOptions,
  config: Config,
): Promise<void> {
  const { feeds, rejected, problem } = readSubscriptions(await readList(file, context.stdin));
  if (problem !== undefined) throw usageError(`'${file}' cannot be read: ${problem}`);
  printRejected(context.stderr, rejected);
  if (feeds.length === 0) throw new CommandError(`'${file}' contains no feeds`);
  await using store = await openConfiguredStore(config);
  printAdded(context, await store.feeds.add(feeds, new Date()), options, rejected.length);
}

export async function exportFeedsCommand(
  { stdout }: CommandContext,
  options: { readonly opml?: boolean },
  config: Config,
): Promise<void> {
  await using store = await openConfiguredStore(config);
  const all: StoredFeed['state'][] = [];
  for await (const { state } of everyFeed(store)) all.push(state);
  stdout.write(
    options.opml
      ? writeOpml(all, { title: 'Feeds that Strata polls', now: new Date() })
      : all.map(({ url }) => `${url}\n`).join(''),
  );
}

async function* everyFeed(store: Store): AsyncGenerator<StoredFeed> {
  for (let after = 0; ; ) {
    const page = await store.feeds.list({ after, limit: PAGE_SIZE });
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.id;
  }
}

function addressOf(given: string): string {
  const address = feedAddress(given);
  if (address.ok) return address.url;
  throw usageError(`'${withoutCredentials(given).slice(0, 100)}' cannot be polled: ${address.message}`);
}

async function readList(file: string, stdin: CommandContext['stdin']): Promise<string> {
  if (file !== '-') {
    return readListFile(file).catch((cause: unknown) => {
      throw (cause as NodeJS.ErrnoException).code === undefined ? cause : fileError(file, cause);
    });
  }
  const content = await readBounded(stdin, MAX_LIST_BYTES);
  if (!content) throw usageError('the list is too long');
  return content.toString('utf8');
}

function printAdded(
  { stdout, stderr }: CommandContext,
  { added, known, revived, refused }: AddedFeeds,
  { json }: OutputOptions,
  rejected = 0,
): void {
  if (json) {
    printJson(stdout, { added, known, revived, rejected: rejected + refused });
    return;
  }
  const more = [known > 0 ? `${known} already known` : '', revived > 0 ? `${revived} resumed` : ''].filter(Boolean);
  stdout.write(`${counted(added, 'feed')} added${more.map((each) => `, ${each}`).join('')}\n`);
  if (added + revived > 0) stderr.write('a running service polls them soon; to poll now: strata stack feeds poll\n');
}

function described({ state, isLeaving, addedAt, polledAt, items, mentions }: StoredFeed) {
  return {
    url: state.url,
    title: state.title,
    site_url: state.siteUrl,
    status: isLeaving ? 'leaving' : state.status,
    failures: state.failures,
    error: state.error,
    items,
    mentions,
    added_at: addedAt.toISOString(),
    polled_at: polledAt?.toISOString() ?? null,
    next_poll_at: state.status === 'gone' ? null : new Date(state.nextPollAt).toISOString(),
  };
}

function stateText({ state: { status, failures }, isLeaving }: StoredFeed): string {
  if (isLeaving) return 'being removed';
  if (status === 'gone') return 'stopped';
  return failures > 0 ? `failed ${failures} times` : 'active';
}
