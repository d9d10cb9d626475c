// Catalog releases: what is refused, at which step, and from which servers.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { createLogger } from '@strata/http';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { readConfig } from '../config.ts';
import { openStore, type Store } from '../store/index.ts';
import { openCatalog, putRelease, removeRelease, storedHead } from './catalog.ts';
import { checkContent } from './check-content.ts';
import { openReleaseFetcher } from './open-release-fetcher.ts';
import { formatRelease, parseRelease, type Release } from './release.ts';
import { newSigner } from './test/signer.ts';
import { catalogReplaced, fetchRelease, followReleases, updateCatalog } from './update-catalog.ts';

const NAME = 'catalog.example';
const NOW = new Date('2030-01-02T00:00:00Z');
const keys = { own: newSigner(NAME), other: newSigner(NAME), renamed: newSigner('other.example') };
const verifiers = [keys.own.verifier, keys.renamed.verifier];
const providers = [
  { id: 'a-mail', name: 'A', website: 'https://a.example', rules: [{ category: 'email', mx: ['mx.a.example'] }] },
];

interface Change {
  readonly at?: string;
  readonly by?: keyof typeof keys;
  readonly provider?: object;
  readonly ranges?: readonly object[];
  /** Applied to the signed file. */
  readonly replace?: readonly [string, string];
  readonly cut?: number;
}
function releaseOf({ at = '2030-01-01T00:00:00Z', by = 'own', provider, ranges = [], replace, cut }: Change = {}) {
  const content = { providers: [...providers, ...(provider ? [provider] : [])], address_ranges: [...ranges] };
  const text = formatRelease(content, new Date(at), [keys[by]]).slice(0, cut);
  return Buffer.from(replace ? text.replace(...replace) : text);
}
const deps = { verifiers, now: () => NOW, check: async (json: string) => checkContent(json) };
const update = (store: Store | undefined, bytes: Uint8Array) => updateCatalog(bytes, { ...deps, store });
const sourceIn = async (...given: Parameters<typeof openCatalog>) => (await openCatalog(...given)).source;

it('a release is stored once, after it was verified, and never replaced by an older one', async () => {
  await using store = await openStore('sqlite::memory:');
  const stored = { kind: 'new', date: '2030-01-01T00:00:00Z', providers: 1 };
  assert.deepEqual(await update(undefined, releaseOf()), { ...stored, isStored: false });
  assert.deepEqual(await update(store, releaseOf()), { ...stored, isStored: true });
  const text = () => store.texts.get('catalog-release');
  const kept = (await text()) ?? '';
  for (const [change, problem] of casesOf<[Change, string][]>('stack', 'refused catalog releases')) {
    const outcome = await update(store, releaseOf({ at: '2030-01-01T12:00:00Z', ...change }));
    assert.match('problem' in outcome ? outcome.problem : outcome.kind, new RegExp(problem), problem);
  }
  assert.match(JSON.stringify(await update(store, new Uint8Array(16 * 1024 * 1024 + 1))), /larger than 16 MiB/);
  assert.equal((await update(store, releaseOf())).kind, 'current');
  assert.equal(await text(), kept);
  const { date, source, providers } = await openCatalog(store);
  assert.deepEqual([date, source, providers.length], ['2030-01-01T00:00:00Z', NAME, 1]);
  // Signed by a key that is not configured, damaged on the disk, or older: the program's own is used. The second is repaired.
  assert.equal(await sourceIn(store, { verifiers: [keys.other.verifier] }), 'bundled');
  await store.texts.put('catalog-release', kept.slice(0, -9));
  assert.equal(await sourceIn(store), 'bundled');
  const damaged = await storedHead(store);
  assert.equal((await update(store, releaseOf())).kind, 'new');
  assert.deepEqual([await sourceIn(store), (await storedHead(store)) === damaged], [NAME, false]);
  const old = parseRelease(String(releaseOf({ at: '2020-01-01T00:00:00Z' }))) as Release;
  assert.ok(await putRelease(store, old, await storedHead(store)));
  assert.equal(await sourceIn(store), 'bundled');
});

it('a release is stored neither after it was removed, nor over one that was stored while it was verified', async () => {
  await using store = await openStore('sqlite::memory:');
  const of = (hour: string) => releaseOf({ at: `2030-01-01T${hour}:00:00Z` });
  assert.equal(await removeRelease(store), false);
  await update(store, of('01'));
  const removed = [await removeRelease(store), await removeRelease(store), await sourceIn(store)];
  assert.deepEqual(removed, [true, false, 'bundled']);
  for (const hour of ['01', '00']) assert.equal((await update(store, of(hour))).kind, 'older');
  const check = async (json: string) =>
    (await update(store, of('03'))).kind === 'new' ? checkContent(json) : assert.fail();
  const outcome = await updateCatalog(of('02'), { ...deps, store, check });
  assert.match('problem' in outcome ? outcome.problem : outcome.kind, /changed while/);
  assert.equal((await openCatalog(store)).date, '2030-01-01T03:00:00Z');
});

it('a fetch that failed is repeated after minutes, increasingly many', async () => {
  await using store = await openStore('sqlite::memory:');
  const bodies = [undefined, undefined, releaseOf(), releaseOf({ at: '2029-01-01T00:00:00Z' }), undefined];
  const [steps, stopping] = [[] as number[], new AbortController()];
  const fetch = async () => {
    const body = bodies.shift();
    return (body ? { kind: 'answered', status: 200, body } : { kind: 'failed' }) as never;
  };
  const wait = async (ms: number) => {
    steps.push(ms / 60_000);
    if (bodies.length === 0) stopping.abort();
  };
  const logger = createLogger({ level: 'info' }, { write: (line: string) => steps.push(JSON.parse(line).level) });
  await followReleases({ ...deps, store, url: 'x', fetcher: { fetch }, logger, wait }, stopping.signal);
  assert.deepEqual(steps, [40, 5, 40, 10, 30, 360, 30, 360, 40, 5], 'each level of the log, and the minutes after it');
});

it('a process ends its run when the store has another release, and only then', async () => {
  await using store = await openStore('sqlite::memory:');
  const stopping = new AbortController();
  let waits = 0;
  const wait = async () => {
    waits += 1;
    if (waits === 3) await update(store, releaseOf());
  };
  await catalogReplaced(store, await openCatalog(store), { signal: stopping.signal, wait });
  assert.deepEqual([waits, stopping.signal.aborted], [3, false]);
});

it('a release is fetched within limits, and a redirect leads to no private address', async () => {
  const headers = { 'content-length': '1000' };
  await using server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    if (request.url === '/moved') response.writeHead(302, { location: `http://127.0.0.2:${port}/good` }).end();
    else if (request.url === '/huge')
      response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(17 * 1024 * 1024)));
    else if (request.url === '/cut') response.writeHead(200, headers).write('catalog of', () => response.destroy());
    else response.writeHead(request.url === '/good' ? 200 : 404).end(releaseOf());
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using fetcher = openReleaseFetcher(base, readConfig({}));
  const get = async (path: string) => String(await fetchRelease(fetcher, base + path));
  assert.equal(await get('/good'), String(releaseOf()));
  for (const [path, problem] of casesOf<[string, string][]>('stack', 'refused downloads of releases'))
    assert.match(await get(path), new RegExp(problem), problem);
});
