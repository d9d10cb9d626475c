// Syncs everything that is not complete and prints a line for each step: a process to be killed by a test.
import path from 'node:path';
import { createFetcher } from '@strata/scan';
import { openStore } from '../../store/index.ts';
import { runSource } from '../run-source.ts';
import { type Addresses, NET_NAMES, sourceOf } from './syncing.ts';

const { directory, at, urls } = JSON.parse(process.argv[2] ?? '') as {
  readonly directory: string;
  readonly at: number;
  readonly urls: Addresses;
};
const trustedOrigins = Object.values(urls).map((url) => new URL(url).origin);
await using store = await openStore(`sqlite:${path.join(directory, 'strata.db')}`);
await using fetcher = createFetcher({ trustedOrigins, userAgent: 'StrataBot/test' });
const known = new Map((await store.sources.list(new Date())).map(({ name, state }) => [name, state]));
for (const name of NET_NAMES) {
  if (known.get(name) === 'complete') continue;
  await runSource(sourceOf(name, urls), {
    store,
    fetcher,
    now: () => new Date(at),
    directory: path.join(directory, 'advisories'),
    signal: new AbortController().signal,
    onStep: ({ read }) => process.stdout.write(`${name} ${read}\n`),
  });
}
