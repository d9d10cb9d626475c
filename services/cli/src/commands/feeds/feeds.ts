// `strata stack feeds`: subscriptions added, listed, removed, taken from lists and given out as one.
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
  type Subscriptions,
  withoutCredentials,
} from '@strata/stack';
import type { AddedFeeds, Store, StoredFeed } from '@strata/store';
import type { CommandContext } from '../../context.ts';
import { fileError } from '../../errors.ts';
import { CommandError, counted, type OutputOptions, plainText, printJson, printTable } from '../../output.ts';

/** Feeds read at once. */
const PAGE = 1_000;
/** Bad lines of a list that are shown; the rest is only counted. */
const SHOWN_REJECTS = 5;
const WIDEST_ERROR = 60;
/** Who adds more than these has a list, and does not wait for each. */
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

/** People paste the address that they see: a page is no feed, but may say where its feeds are. */
async function refusePages(urls: readonly string[], config: Config): Promise<void> {
  await using fetcher = openFetcher(config, {});
  const pages = await Promise.all(urls.map(async (url) => ({ url, feeds: await feedsOfPage(fetcher, url) })));
  const told = pages.flatMap(({ url, feeds }) => {
    if (feeds === undefined) return [];
    if (feeds.length === 0) return [`'${url}' is a page, not a feed, and announces none`];
    return [`'${url}' is a page, not a feed; it announces:\n${feeds.map((feed) => `  ${feed}`).join('\n')}`];
  });
  if (told.length === 0) return;
  throw new CommandError(`${told.join('\n')}\nnothing was added; --no-check adds addresses as they are`, {
    exitCode: 2,
  });
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
  else stdout.write(`${counted(removed, 'feed')} removed, and what ${removed === 1 ? 'it' : 'they'} said\n`);
  if (unknown.length > 0) throw new CommandError(`nobody subscribes to ${unknown.join(', ')}`);
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
    stdout.write(options.failing ? 'no feed fails\n' : 'no feeds yet; `feeds add URL` subscribes to one\n');
  else {
    const rows = all.map((feed) => [
      feed.state.url,
      stateText(feed),
      String(feed.items),
      String(feed.mentions),
      feed.polledAt?.toISOString() ?? 'never',
      (feed.state.error ?? feed.state.title ?? '').slice(0, WIDEST_ERROR),
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
  if (problem !== undefined) throw new CommandError(`'${file}' cannot be read: ${problem}`, { exitCode: 2 });
  reportRejected(context, rejected);
  if (feeds.length === 0) throw new CommandError('there is no feed in it');
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
    const page = await store.feeds.list({ after, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.id;
  }
}

function addressOf(given: string): string {
  const address = feedAddress(given);
  if (address.ok) return address.url;
  throw new CommandError(`'${withoutCredentials(given).slice(0, 100)}' cannot be polled: ${address.message}`, {
    exitCode: 2,
  });
}

async function readList(file: string, stdin: CommandContext['stdin']): Promise<string> {
  if (file !== '-') {
    return readListFile(file).catch((cause: unknown) => {
      throw (cause as NodeJS.ErrnoException).code === undefined ? cause : fileError(file, cause);
    });
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_LIST_BYTES) throw new CommandError('the list is too long', { exitCode: 2 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
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
  const more = [known > 0 ? `${known} known` : '', revived > 0 ? `${revived} asked again` : ''].filter(Boolean);
  stdout.write(`${counted(added, 'feed')} added${more.map((each) => `, ${each}`).join('')}\n`);
  if (added + revived > 0) stderr.write('a running service polls them soon; `feeds poll` does it now\n');
}

function reportRejected({ stderr }: CommandContext, rejected: Subscriptions['rejected']): void {
  for (const { line, text, message } of rejected.slice(0, SHOWN_REJECTS)) {
    const where = line === null ? '' : `line ${line}: `;
    stderr.write(`${where}'${plainText(text)}' is left out: ${message}\n`);
  }
  const more = rejected.length - SHOWN_REJECTS;
  if (more > 0) stderr.write(`and ${more} more that ${more === 1 ? 'is no address' : 'are no addresses'}\n`);
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
  if (status === 'gone') return 'given up';
  return failures > 0 ? `failed, ${failures} in a row` : 'active';
}
