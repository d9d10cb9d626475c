// The service as an operator runs it, with feeds and sources of advisories that send hostile documents: it answers all the
// while, in bounded memory, says of each what is wrong with it, and keeps what it had.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { runStrata } from '../../../services/cli/src/test/run-strata.ts';
import { HOSTILITIES, type Hostility, type Publisher, startPublisher } from '../../support/hostile-publisher.ts';
import { fillStore, settingsOf, startServe } from '../../support/serve-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { repeatDuring, untilAnswer } from '../../support/until.ts';

const MEGABYTE = 1 << 20;
/** Growth allowed: documents of some ten megabytes, read concurrently, and their garbage. */
const MAX_GROWTH = 512 * MEGABYTE;
/** A request that waits longer than this for the parsing of a document means a blocked event loop. */
const MAX_WAIT_MS = 60_000;

const good: Hostility = (response) => {
  const items = ['a', 'b', 'c', 'd', 'e'].map(
    (n) => `<item><title>Item ${n}</title><link>https://named${n}.com/</link><guid>${n}</guid></item>`,
  );
  const text = `<rss version="2.0"><channel><title>Good</title>${items.join('')}</channel></rss>`;
  response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(text);
};
const catalogue: Hostility = (response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      catalogVersion: '2026.01.01',
      dateReleased: '2026-01-01T00:00:00Z',
      vulnerabilities: [{ cveID: 'CVE-2024-0001', dateAdded: '2024-01-02', requiredAction: 'Apply the update.' }],
    }),
  );

/** Feeds may be at port 80 or 443 alone, which need privileges; each host has its own address. */
async function startFeeds(stack: AsyncDisposableStack): Promise<Readonly<Record<string, Publisher>> | undefined> {
  const net = `127.${64 + Math.floor(Math.random() * 128)}.${Math.floor(Math.random() * 256)}`;
  const kinds: [string, Hostility][] = [['good', good], ...Object.entries(HOSTILITIES)];
  const started: Record<string, Publisher> = {};
  for (const [i, [name, answer]] of kinds.entries()) {
    try {
      started[name] = stack.use(await startPublisher(answer, { address: `${net}.${i + 1}`, port: 80 }));
    } catch {
      return undefined;
    }
  }
  return started;
}

type ListedFeed = Readonly<Record<'url', string> & Record<'error' | 'title', string | null>>;

describe('a service whose publishers are hostile', () => {
  it('answers, in bounded memory, and keeps what it had', { timeout: 900_000 }, async (t) => {
    await using stack = new AsyncDisposableStack();
    const feeds = await startFeeds(stack);
    if (!feeds) return t.skip('port 80 cannot be listened at here');
    const kev = stack.use(await startPublisher(catalogue));
    const epss = stack.use(await startPublisher(HOSTILITIES.bomb));
    const nvd = stack.use(await startPublisher(HOSTILITIES.deep));
    const osv = stack.use(await startPublisher(HOSTILITIES.private));
    const directory = stack.use(await temporaryDirectory());
    const list = path.join(directory.path, 'feeds.txt');
    const origins = Object.values(feeds).map(({ origin }) => origin);
    await writeFile(list, origins.map((origin) => `${origin}/feed\n`).join(''));
    const settings = {
      ...{ STRATA_FEEDS: 'on', STRATA_FEEDS_FILE: list, STRATA_ALLOW_ADDRESSES: '127.0.0.0/8' },
      ...{ STRATA_ADVISORIES: 'kev,epss,nvd,osv', STRATA_ADVISORY_HOURS: '0.005' },
      ...{ STRATA_KEV_URL: `${kev.origin}/kev.json`, STRATA_EPSS_URL: `${epss.origin}/epss.csv.gz` },
      ...{ STRATA_NVD_URL: `${nvd.origin}/cves`, STRATA_OSV_URL: osv.origin },
    };
    const env = { ...settingsOf(directory.path), ...settings };
    const { free: key } = await fillStore(path.join(directory.path, 'strata.db'), 0);
    await using service = await startServe(directory.path, settings);
    const before = memoryOf(service.pid);

    const waits: number[] = [];
    const ask = async () => {
      const startedAt = performance.now();
      const answer = await service.get(`/stack/v1/search?limit=${1 + (waits.length % 900)}`, key);
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
      waits.push(performance.now() - startedAt);
      await delay(20);
    };
    const json = async (path: string) => (await service.get(`/stack/v1/${path}`, key)).json();
    const sources = async () => {
      const status = (await json('enrichment/status')) as StatusBody;
      return new Map(status.sources.map((source) => [source.source, source]));
    };
    const listed = async () => {
      const { stdout } = await runStrata(['stack', 'feeds', 'list', '--json'], { env });
      const all = JSON.parse(stdout) as ListedFeed[];
      return new Map(
        Object.entries(feeds).map(([name, { origin }]) => [name, all.find(({ url }) => url.startsWith(`${origin}/`))]),
      );
    };
    const stats = async () => (await json('feeds/stats')) as { readonly items: number; readonly polled: number };
    const goThrough = async () => {
      await untilAnswer('each feed was polled', stats, ({ polled }) => polled === Object.keys(feeds).length);
      const shown = await listed();
      console.log(JSON.stringify([...shown].map(([name, feed]) => [name, feed?.error])));
      assert.equal(shown.get('good')?.error, null);
      for (const name of ['drip', 'loop', 'private', 'metadata', 'bomb', 'picture', 'deep'])
        assert.ok((shown.get(name)?.error ?? '').length > 0, `${name} is reported`);
      // What it calls itself is not multiplied.
      assert.ok((shown.get('laughs')?.title ?? '').length < 100);
      assert.match(shown.get('private')?.error ?? '', /forbidden/);
      assert.match(shown.get('metadata')?.error ?? '', /forbidden/);

      const isRead = (all: Awaited<ReturnType<typeof sources>>) => typeof all.get('kev')?.last_sync === 'string';
      const read = await untilAnswer('the catalogue was read', sources, isRead);
      for (const name of ['epss', 'osv']) assert.equal(read.get(name)?.last_sync, null);
      kev.answer = HOSTILITIES.garbled;
      const failing = await untilAnswer('each failing source has its error', sources, (all) =>
        ['kev', 'epss', 'nvd', 'osv'].every((name) => (all.get(name)?.error ?? '') !== ''),
      );
      console.log(JSON.stringify([...failing.values()].map(({ source, error }) => [source, error])));
      assert.ok(failing.get('kev')?.last_sync, 'what was read before stays');

      // A feed that turned bad keeps its items.
      const { items } = await stats();
      assert.ok(items >= 5);
      (feeds.good as Publisher).answer = HOSTILITIES.endless;
      await runStrata(['stack', 'feeds', 'poll', '--all'], { env });
      assert.ok(((await listed()).get('good')?.error ?? '').length > 0);
      assert.equal((await stats()).items, items);
    };
    await repeatDuring(goThrough(), ask);
    const grownBy = (memoryOf(service.pid) - before) / MEGABYTE;
    const longestMs = Math.round(Math.max(...waits));
    console.log(`${waits.length} answers, the slowest in ${longestMs} ms; memory grew by ${grownBy} MiB at most`);
    assert.ok(grownBy * MEGABYTE < MAX_GROWTH, `it grew by ${grownBy} MiB`);
    assert.ok(longestMs < MAX_WAIT_MS, `an answer took ${longestMs} ms`);
    assert.ok(!service.log.some((line) => /"level":60/.test(line)));
  });
});

interface StatusBody {
  readonly sources: readonly Readonly<Record<'source' | 'last_sync' | 'error', string | null>>[];
}

/** The most that a process ever had. */
function memoryOf(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1_024;
}
