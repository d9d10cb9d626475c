// Advisories from the command line; services/stack proves how each source is read.
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createAdvisorySources } from '@strata/testnet';
import { type RunOptions, runStrata, temporaryDirectory } from '../test/run-strata.ts';

async function openSetting(bulk = 0) {
  await using stack = new AsyncDisposableStack();
  const data = stack.use(await temporaryDirectory());
  const now = () => new Date(Date.UTC(2026, 5, 1));
  const publishers = stack.use(await createAdvisorySources({ seed: 'cli', now, bulk }));
  const env = {
    STRATA_DATA: data.path,
    STRATA_NVD_URL: publishers.nvdUrl,
    STRATA_NVD_API_KEY: '11111111-2222-3333-4444-555555555555',
    STRATA_KEV_URL: publishers.kevUrl,
    STRATA_EPSS_URL: publishers.epssUrl,
    STRATA_OSV_URL: publishers.osvUrl,
    STRATA_CVE_API_URL: publishers.cveListUrl,
    STRATA_CVE_RAW_URL: publishers.rawUrl,
  };
  const enrich = (args: string, more: Record<string, string> = {}, options: RunOptions = {}) =>
    runStrata(['stack', 'enrich', ...args.split(' ')], { ...options, env: { ...env, ...more } });
  const owned = stack.move();
  return { publishers, directory: data.path, enrich, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

describe('strata stack enrich', () => {
  it('syncs all sources and tells how fresh they are', async () => {
    await using setting = await openSetting();
    const { enrich } = setting;
    const empty = await enrich('status');
    assert.equal(empty.code, 0, empty.stderr);
    assert.match(empty.stdout, /nvd\s+never/);
    assert.match(empty.stdout, /^0 vulnerabilities, 0 known to be exploited$/m);
    const none = JSON.parse((await enrich('status --json')).stdout);
    assert.deepEqual([none.advisories, none.sources[0].last_sync, none.sources[0].state], [0, null, 'never']);

    const synced = await enrich('sync --json');
    assert.equal(synced.code, 0, synced.stderr);
    const ends = JSON.parse(synced.stdout) as { source: string; kind: string; read: number; skipped: number }[];
    assert.deepEqual(
      ends.map(({ source, kind }) => `${source} ${kind}`),
      ['kev complete', 'epss complete', 'nvd complete', 'osv complete', 'cve complete'],
    );
    for (const { source, read, skipped } of ends) assert.ok(read > skipped && skipped > 0, source);
    const status = JSON.parse((await enrich('status --json')).stdout);
    assert.ok(status.advisories > 50 && status.known_exploited > 20 && status.scored > 50);
    for (const source of status.sources) {
      assert.equal(source.state, 'complete');
      assert.ok(source.records > 0 && source.last_sync && source.skipped_example && source.error === null);
    }
    assert.match((await enrich('status')).stdout, /epss\s+complete\s+\S+Z\s+\d+\s+3\s/);
  });

  it('syncs the sources that are named, and those that are configured', async () => {
    await using setting = await openSetting();
    const { enrich, publishers } = setting;
    const one = await enrich('sync kev');
    assert.equal(one.code, 0, one.stderr);
    assert.match(one.stdout, /kev\s+complete\s+28\s+3/);
    assert.doesNotMatch(one.stdout, /nvd/);
    assert.equal(publishers.requests('nvd'), 0);
    const off = { STRATA_ADVISORIES: 'kev' };
    assert.match((await enrich('status', off)).stdout, /nvd\s+off/);
    const none = /there is no source '.*'; there are: kev, epss, nvd, osv, cve/;
    for (const [args, more, words] of [
      ['sync nvd', off, /'nvd' is not among the configured sources/],
      ['sync', { STRATA_ADVISORIES: 'off' }, /no source of advisories is configured/],
      ['sync kev --from .', {}, /name no sources with it/],
      ...['folder', 'toString', '__proto__', 'NVD', ''].map((name) => [`sync ${name}`, {}, none] as const),
    ] as const) {
      const { code, stdout, stderr } = await enrich(args, more);
      assert.deepEqual([code, stdout], [2, ''], args);
      assert.match(stderr, words);
    }
  });

  it('reads a folder in place of the net', async () => {
    await using setting = await openSetting();
    const { publishers, directory, enrich } = setting;
    const folder = path.join(directory, 'files');
    await mkdir(folder);
    await writeFile(path.join(folder, 'kev.json'), await (await fetch(publishers.kevUrl)).text());
    await writeFile(path.join(folder, 'bad.json'), '{');
    const before = publishers.requests('kev');
    const { code, stdout, stderr } = await enrich(`sync --from ${folder}`);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /folder\s+complete\s+29\s+4/);
    assert.equal(publishers.requests('kev'), before);
    const missing = await enrich(`sync --from ${path.join(directory, 'nowhere')} --json`);
    assert.equal(missing.code, 1);
    assert.match(JSON.parse(missing.stdout)[0].error, /cannot be read/);
  });

  it('ends with 1 when a source cannot be read, and still syncs the others', async () => {
    await using setting = await openSetting();
    setting.publishers.fail('kev', { status: 410, times: 5 });
    const { code, stdout, stderr } = await setting.enrich('sync kev epss');
    assert.equal(code, 1);
    assert.match(stdout, /kev\s+failed\s+0\s+0\s+\S+ answered 410[\s\S]*epss\s+complete/);
    assert.match(stderr, /1 source could not be read/);
    assert.match((await setting.enrich('status')).stdout, /kev\s+failed.*answered 410/);
  });

  it('stops at Ctrl-C with 130, and goes on where it stood', async () => {
    await using setting = await openSetting(10_000);
    const { enrich, publishers } = setting;
    const interrupted = Promise.withResolvers<void>();
    const poll = setInterval(() => publishers.requests('nvd') > 1 && interrupted.resolve(), 1);
    const { code, stderr, stdout } = await enrich('sync nvd --json', {}, { interruptOn: interrupted.promise });
    clearInterval(poll);
    assert.equal(code, 130, stderr);
    assert.match(stderr, /goes on where it stood/);
    const [end] = JSON.parse(stdout);
    assert.equal(end.kind, 'interrupted');
    const status = JSON.parse((await enrich('status --json')).stdout);
    const nvd = status.sources.find(({ source }: { source: string }) => source === 'nvd');
    assert.deepEqual([nvd.state, nvd.last_sync, nvd.read], ['interrupted', null, end.read]);
    const whole = await enrich('sync nvd --json');
    assert.equal(whole.code, 0, whole.stderr);
    assert.ok(JSON.parse(whole.stdout)[0].read > 10_000);
    assert.ok(publishers.requests('nvd') < 12);
  });
});
