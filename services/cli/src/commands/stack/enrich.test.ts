// Advisories from the command line; services/stack proves how each source is read.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { createAdvisorySources } from '@strata/testnet';
import { temporaryDirectory } from '../../../../../tests/support/temporary-directory.ts';
import { assertEnds, type RunOptions } from '../../test/run-strata.ts';

async function openSetting(bulk = 0) {
  await using stack = new AsyncDisposableStack();
  const data = stack.use(await temporaryDirectory());
  const now = () => new Date(Date.UTC(2026, 5, 1));
  const publishers = stack.use(await createAdvisorySources({ seed: 'cli', now, bulk }));
  const env = {
    ...{ STRATA_DATA: data.path, STRATA_NVD_API_KEY: '11111111-2222-3333-4444-555555555555' },
    ...publishers.settings,
  };
  const ends = (args: string, code: number, words = /^/, { env: more, ...options }: RunOptions = {}) =>
    assertEnds(`stack enrich ${args}`, code, words, { ...options, env: { ...env, ...more } });
  const enrich = async (args: string, more: Readonly<Record<string, string>> = {}) =>
    (await ends(args, 0, /^/, { env: more })).stdout;
  return Object.assign(stack.move(), { publishers, directory: data.path, ends, enrich });
}

it('strata stack enrich syncs all sources and shows how fresh they are', async () => {
  await using setting = await openSetting();
  const { enrich } = setting;
  const empty = await enrich('status');
  assert.match(empty, /nvd\s+never/);
  assert.match(empty, /^0 vulnerabilities, 0 known to be exploited$/m);
  const none = JSON.parse(await enrich('status --json'));
  assert.deepEqual([none.advisories, none.sources[0].last_sync, none.sources[0].state], [0, null, 'never']);

  const synced = JSON.parse(await enrich('sync --json'));
  const sources = ['kev', 'epss', 'nvd', 'osv', 'cve'].map((source) => ({ source, kind: 'complete' }));
  assert.partialDeepStrictEqual(synced, sources);
  assert.equal(synced.length, sources.length);
  for (const { source, read, skipped } of synced) assert.ok(read > skipped && skipped > 0, source);
  const status = JSON.parse(await enrich('status --json'));
  assert.ok(status.advisories > 50 && status.known_exploited > 20 && status.scored > 50);
  for (const source of status.sources) {
    assert.equal(source.state, 'complete');
    assert.ok(source.records > 0 && source.last_sync && source.skipped_example && source.error === null);
  }
  assert.match(await enrich('status'), /epss\s+complete\s+\S+Z\s+\d+\s+3\s/);
});

it('strata stack enrich syncs the sources that are named, and those that are configured', async () => {
  await using setting = await openSetting();
  const { enrich, ends, publishers } = setting;
  const one = await enrich('sync kev');
  assert.match(one, /kev\s+complete\s+28\s+3/);
  assert.doesNotMatch(one, /nvd/);
  assert.equal(publishers.requests('nvd'), 0);
  const off = { STRATA_ADVISORIES: 'kev' };
  assert.match(await enrich('status', off), /nvd\s+off/);
  const none = /unknown source '.*'; known sources: kev, epss, nvd, osv, cve/;
  for (const [args, env, words] of [
    ['sync nvd', off, /source 'nvd' is not configured/],
    ['sync', { STRATA_ADVISORIES: 'off' }, /no advisory source is configured/],
    ['sync kev --from .', {}, /cannot be combined with source names/],
    ...['folder', 'toString', '__proto__', 'NVD', ''].map((name) => [`sync ${name}`, {}, none] as const),
  ] as const)
    assert.equal((await ends(args, 2, words, { env })).stdout, '', args);
});

it('strata stack enrich reads a folder instead of the network; exits with 1 when a source cannot be read, and syncs the rest', async () => {
  await using setting = await openSetting();
  const { publishers, directory, enrich, ends } = setting;
  const folder = path.join(directory, 'files');
  await mkdir(folder);
  await writeFile(path.join(folder, 'kev.json'), await (await fetch(publishers.kevUrl)).text());
  await writeFile(path.join(folder, 'bad.json'), '{');
  const before = publishers.requests('kev');
  assert.match(await enrich(`sync --from ${folder}`), /folder\s+complete\s+29\s+4/);
  assert.equal(publishers.requests('kev'), before);
  const missing = await ends(`sync --from ${path.join(directory, 'nowhere')} --json`, 1);
  assert.match(JSON.parse(missing.stdout)[0].error, /cannot be read/);
  publishers.fail('kev', { status: 410, times: 5 });
  const { stdout } = await ends('sync kev epss', 1, /1 source could not be read/);
  assert.match(stdout, /kev\s+failed\s+0\s+0\s+\S+ answered 410[\s\S]*epss\s+complete/);
  assert.match(await enrich('status'), /kev\s+failed.*answered 410/);
});

it('strata stack enrich stops at Ctrl-C with 130, and continues when it is run again', async () => {
  await using setting = await openSetting(5_000);
  const { enrich, ends, publishers } = setting;
  const interrupted = Promise.withResolvers<void>();
  const poll = setInterval(() => publishers.requests('nvd') > 1 && interrupted.resolve(), 1);
  const interruptOn = interrupted.promise;
  const { stdout } = await ends('sync nvd --json', 130, /run the same command again/, { interruptOn });
  clearInterval(poll);
  const [end] = JSON.parse(stdout);
  assert.equal(end.kind, 'interrupted');
  const { sources } = JSON.parse(await enrich('status --json'));
  const nvd = sources.find(({ source }: { source: string }) => source === 'nvd');
  assert.deepEqual([nvd.state, nvd.last_sync, nvd.read], ['interrupted', null, end.read]);
  assert.ok(JSON.parse(await enrich('sync nvd --json'))[0].read > 5_000);
  assert.ok(publishers.requests('nvd') < 8);
});
