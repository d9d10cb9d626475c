// Advisories from a folder of files.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { writeZip, type ZipEntry } from '@strata/testnet';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { stoppedAfter } from '../test/cut-off.ts';
import { HOUR, idsOf, NET_NAMES, openWorld, type World } from '../test/syncing.ts';
import { folderSource } from './folder.ts';

/** What the publishers serve, as files of the kinds that they give out. */
async function filesOf({ publishers, fetcher }: World, directory: string): Promise<void> {
  const { nvdUrl, cveListUrl, kevUrl, epssUrl, osvUrl } = publishers;
  const bytesOf = async (url: string) => {
    const got = await fetcher.fetch(url, { maxBytes: 1e8, timeoutMs: 10_000 });
    assert.ok(got.kind === 'answered' && got.status === 200, url);
    return got.body;
  };
  const { assets } = JSON.parse((await bytesOf(`${cveListUrl}/releases/latest`)).toString());
  const list = (await bytesOf(`${osvUrl}/Packagist/modified_id.csv`)).toString();
  await mkdir(path.join(directory, 'osv/npm'), { recursive: true });
  await writeFile(path.join(directory, 'nvdcve-2.0-modified.json.gz'), gzipSync(await bytesOf(nvdUrl)));
  for (const [name, url] of [
    ['nvdcve-2.0-2020.json', nvdUrl],
    ['all_CVEs_at_midnight.zip.zip', assets[0].browser_download_url],
    ['kev.json', kevUrl],
    ['epss_scores-current.csv.gz', epssUrl],
    ['osv/npm/all.zip', `${osvUrl}/npm/all.zip`],
    ...[...list.matchAll(/,(.+)/g)].map(([, id]) => [`osv/${id}.json`, `${osvUrl}/Packagist/${id}.json`]),
  ])
    await writeFile(path.join(directory, name), await bytesOf(url));
}

async function openFolder() {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openWorld());
  const ground = stack.use(await world.ground());
  const directory = path.join(ground.directory, 'files');
  await mkdir(directory);
  const source = folderSource({ directory, everyMs: HOUR });
  return Object.assign(stack.move(), {
    ...{ world, ground, directory, source },
    put: (name: string, body: Buffer | string) => writeFile(path.join(directory, name), body),
    async sync() {
      const latest = await ground.store.advisories.latestChange();
      const end = await ground.run(source);
      assert.ok(end.kind === 'complete', JSON.stringify(end));
      const changes = (await ground.store.advisories.latestChange()) - latest;
      return { ...end, changes, example: (await ground.stored('folder')).skippedExample };
    },
  });
}

const osv = (id: string, more: object = {}) =>
  JSON.stringify({ id, modified: '2024-01-01T00:00:00Z', published: '2024-01-01T00:00:00Z', summary: id, ...more });

/** A test with a folder and a store of its own. */
function inFolder(name: string, check: (folder: Awaited<ReturnType<typeof openFolder>>) => Promise<void>): void {
  it(name, async () => {
    await using folder = await openFolder();
    await check(folder);
  });
}

describe('a folder of publishers files', () => {
  inFolder('holds the same as the publishers serve', async ({ world, ground, directory, sync }) => {
    await filesOf(world, directory);
    const end = await sync();
    assert.ok(end.read > 100 && end.skipped > 0);
    await using net = await world.ground();
    for (const name of NET_NAMES) await net.run(world.source(name));
    assert.deepEqual(ground.dump(), net.dump());
    // Nothing of ours is left beside it.
    assert.deepEqual(await readdir(ground.deps.directory), []);
  });

  inFolder('reads a file again only when it has changed, or is back', async ({ put, sync, directory, ground }) => {
    const [inside, outside] = [path.join(directory, 'a.json'), path.join(directory, '../a.json')];
    const storedRead = async () => (await ground.stored('folder')).read;
    await put('a.json', osv('GHSA-2222-2222-2222'));
    await put('b.json', osv('GHSA-3333-3333-3333'));
    assert.equal((await sync()).read, 2);
    assert.deepEqual([(await sync()).changes, await storedRead()], [0, 2]);
    await put('b.json', osv('GHSA-3333-3333-3333', { summary: 'changed' }));
    assert.deepEqual([(await sync()).read, await storedRead()], [1, 1]);
    await utimes(inside, 1, 1);
    assert.deepEqual([(await sync()).changes, await storedRead()], [0, 1]);
    await rename(inside, outside);
    await sync();
    await rename(outside, inside);
    assert.equal((await sync()).read, 1);
  });

  inFolder('passes over what is damaged or unknown, and counts it', async ({ put, sync, ground }) => {
    const scores = gzipSync('#model_version:v1,score_date:2026-01-01T00:00:00Z\ncve,epss,percentile\n');
    for (const [name, body] of [
      ...casesOf<[string, string][]>('stack', 'damaged files of a folder'),
      ['e.csv.gz', scores.subarray(0, 30)],
      ['g.json', '['.repeat(100_000)],
      ['MAL-2024-1.json', osv('MAL-2024-1')],
      ['z.json', osv('GHSA-2222-2222-2222')],
    ] as const)
      await put(name, body);
    const end = await sync();
    const { advisories, knownExploited } = await ground.store.advisories.counts();
    assert.deepEqual([advisories, knownExploited, end.read - end.skipped], [1, 0, 1]);
    assert.ok(end.skipped >= 10, String(end.skipped));
    assert.match(end.example ?? '', /^a\.json is damaged or not JSON/);
  });

  inFolder('is not harmed by archives', async ({ put, sync, ground, directory }) => {
    const of = (id: string, contents = osv(id)): ZipEntry => ({ name: `${id}.json`, contents });
    const zip = (name: string, ...entries: ZipEntry[]) => writeZip(path.join(directory, name), entries);
    const file = await zip('../inner', of('GHSA-5555-5555-5555'));
    await zip('a.zip', of('GHSA-2222-2222-2222'), of('../../evil', osv('GHSA-3333-3333-3333')));
    await zip('b.zip', of('bomb', ' '.repeat(17 * 1024 * 1024)), of('GHSA-4444-4444-4444'));
    await zip('c.zip', { name: '../../x.zip', file });
    await zip('d.zip', of('MAL-2024-1'), of('delta', '{}'), of('x/GHSA-6666-6666-6666', '{'));
    const lying = await readFile((await zip('../lying', of('GHSA-7777-7777-7777'))).path);
    // Says in its directory that it is one byte long.
    lying.writeUInt32LE(1, lying.lastIndexOf('PK\x01\x02') + 24);
    await put('e.zip', lying);
    const end = await sync();
    const ids = idsOf(ground);
    assert.ok(ids.includes('GHSA-4444-4444-4444'));
    assert.ok(!ids.some((id) => /7777|MAL/.test(id)), ids.join());
    assert.ok(end.skipped >= 3, JSON.stringify(end));
    assert.doesNotMatch((await readdir(ground.directory)).join('\n'), /evil|^x/m);
  });

  inFolder('of many files is continued where it was stopped', async ({ put, ground, source }) => {
    const ids = Array.from({ length: 450 }, (_, i) => `GHSA-2222-2222-${String(i).padStart(4, '0')}`);
    for (const id of ids) await put(`${id}.json`, osv(id));
    let runs = 0;
    for (let state = ''; state !== 'complete'; runs += 1) {
      await ground.run(source, stoppedAfter(1));
      state = (await ground.stored('folder')).state;
    }
    assert.deepEqual([runs, (await ground.stored('folder')).read], [4, 450]);
    assert.equal((await ground.store.advisories.counts()).advisories, 450);
  });

  inFolder('that is not there is an error, not an empty one', async (folder) => {
    await rm(folder.directory, { recursive: true });
    const end = await folder.ground.run(folder.source);
    assert.match(end.kind === 'failed' ? end.error : end.kind, /cannot be read/);
  });
});
