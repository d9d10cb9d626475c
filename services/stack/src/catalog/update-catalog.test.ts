// Catalog releases: what is refused, at which step, and from which servers.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { noteVerifier } from '@strata/receipts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { readConfig } from '../config.ts';
import { openCatalog, putRelease, storedRelease } from './catalog.ts';
import { checkContent } from './check-content.ts';
import { openReleaseFetcher } from './open-release-fetcher.ts';
import { formatRelease } from './release.ts';
import { catalogReplaced, fetchRelease, updateCatalog } from './update-catalog.ts';

const NAME = 'catalog.example';
const NOW = new Date('2030-01-02T00:00:00Z');
function newSigner(name = NAME) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const x = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  return { name, publicKey: new Uint8Array(x), sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
}
const keys = { own: newSigner(), other: newSigner(), renamed: newSigner('other.example') };
const verifiers = [keys.own, keys.renamed].map(({ name, publicKey }) => noteVerifier(name, publicKey));
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
function storeOf(text = '') {
  const texts = new Map([['catalog-release', text]]);
  const put = async (name: string, value: string) => void texts.set(name, value);
  return { texts: { get: async (name: string) => texts.get(name), put } as never };
}
const update = (store: ReturnType<typeof storeOf>, bytes: Uint8Array, now = NOW, isDry = false) =>
  updateCatalog(bytes, { store, verifiers, now: () => now, check: async (json) => checkContent(json) }, { isDry });

it('a release is stored once, after it was verified, and never replaced by an older one', async () => {
  const store = storeOf();
  const stored = { kind: 'new', date: '2030-01-01T00:00:00Z', providers: 1 };
  assert.deepEqual(await update(store, releaseOf(), NOW, true), { ...stored, isStored: false });
  assert.equal(await storedRelease(store), '');
  assert.deepEqual(await update(store, releaseOf()), { ...stored, isStored: true });
  const kept = await storedRelease(store);
  for (const [change, problem] of casesOf<[Change, string][]>('stack', 'refused catalog releases')) {
    const outcome = await update(store, releaseOf({ at: '2030-01-01T12:00:00Z', ...change }));
    assert.match(outcome.kind === 'refused' ? outcome.problem : outcome.kind, new RegExp(problem), problem);
  }
  assert.match(JSON.stringify(await update(store, new Uint8Array(16 * 1024 * 1024 + 1))), /larger than 16 MiB/);
  assert.equal((await update(store, releaseOf())).kind, 'current');
  assert.equal(await storedRelease(store), kept);
  const { date, source, providers } = await openCatalog(store);
  assert.deepEqual([date, source, providers.length], ['2030-01-01T00:00:00Z', NAME, 1]);
  // Damaged on the disk, or older than the program's own: the program's own is used.
  for (const text of [kept.slice(0, -9), String(releaseOf({ at: '2020-01-01T00:00:00Z' }))]) {
    const { source, storedHead } = await openCatalog(storeOf(text));
    assert.deepEqual([source, storedHead.startsWith('catalog of ')], ['bundled', true]);
  }
});

it('a process ends its run when the store has another release, and only then', async () => {
  const store = storeOf();
  const stopping = new AbortController();
  let waits = 0;
  const wait = async () => {
    waits += 1;
    if (waits === 3) await putRelease(store, String(releaseOf()));
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
  for (const [path, problem] of [
    ['/moved', /fetched: .*(?:address|port)/],
    ['/huge', /larger than 16 MiB/],
    ['/cut', /fetched|ended early/],
    ['/none', /status 404/],
  ] as const)
    assert.match(await get(path), problem, path);
});
