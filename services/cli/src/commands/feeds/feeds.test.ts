// Subscriptions from the command line, with nothing on the network that answers.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { readOpml } from '@strata/feeds';
import { openStore } from '@strata/stack/store';
import { temporaryDirectory } from '../../../../../tests/support/temporary-directory.ts';
import { assertEnds, type RunOptions } from '../../test/run-strata.ts';

const A = 'https://a.example/feed.xml';
const B = 'https://b.example/atom';

async function commands() {
  const data = await temporaryDirectory();
  const settings = { STRATA_DATA: data.path, STRATA_RESOLVERS: '127.0.0.1:1', STRATA_LOG_LEVEL: 'silent' };
  const ends = (args: readonly string[], code: number, words = /^/, { env, ...options }: RunOptions = {}) =>
    assertEnds(['stack', 'feeds', ...args], code, words, { ...options, env: { ...settings, ...env } });
  const run = async (args: string, input = '') => (await ends(args.split(' '), 0, /^/, { input })).stdout;
  const json = async (args: string, input = '') => JSON.parse(await run(`${args} --json`, input));
  return { ...data, ends, run, json };
}

it('strata stack feeds adds, lists and removes feeds, for people and as JSON', async () => {
  await using feeds = await commands();
  assert.match(await feeds.run('list'), /^no feeds; add one/);
  assert.match(await feeds.run(`add ${A} feed://b.example/atom ${A}#top`), /^2 feeds added, 1 already known\n$/);
  assert.deepEqual(await feeds.json(`add ${A}`), { added: 0, known: 1, revived: 0, rejected: 0 });
  assert.match(await feeds.run('list'), /https:\/\/a\.example\/feed\.xml\s+active\s+0\s+0\s+never/);
  const fresh = [A, B].map((url) => ({ url, status: 'active', polled_at: null }));
  assert.partialDeepStrictEqual(await feeds.json('list'), fresh);
  const unknown = /^strata: not subscribed to https:\/\/unknown\.example\/\n$/;
  const { stdout } = await feeds.ends(['remove', A, 'https://unknown.example/'], 1, unknown);
  assert.equal(stdout, '1 feed removed\n');
  assert.equal(await feeds.run('export'), `${B}\n`);
});

it('strata stack feeds refuses invalid URLs and lists, and then adds nothing', async () => {
  await using feeds = await commands();
  for (const [url, words] of [
    ['example.com/feed', /this is not a URL; use the form https/],
    ['file:///etc/passwd', /only http and https/],
    ['https://me:secret@x.example/feed', /^strata: '[^']*\*\*\*@x.example[^']*'.+name or password/],
  ] as const)
    assert.equal((await feeds.ends(['add', A, url], 2, words)).stdout, '');
  assert.equal(await feeds.run('export'), '');
  await feeds.ends(['add'], 2);
  for (const [file, input, code, words] of [
    [path.join(feeds.path, 'missing.opml'), '', 2, /does not exist/],
    [feeds.path, '', 2, /is a directory, not a file/],
    ['-', '<html><p>not a list', 2, /'-' cannot be read: /],
    ['-', '# nothing\n', 1, /^strata: '-' contains no feeds\n$/],
  ] as const)
    await feeds.ends(['import', file], code, words, { input });
});

it('strata stack feeds imports lists and OPML from a file and from standard input, and exports them', async () => {
  await using feeds = await commands();
  const file = path.join(feeds.path, 'list.txt');
  await writeFile(file, `\uFEFF# mine\r\n${A}\r\n\r\nnonsense\r\n${B} # another\r\n${A}\r\n`);
  const { stdout } = await feeds.ends(['import', file], 0, /^line 4: skipped 'nonsense': this is not a URL/);
  assert.equal(stdout, '2 feeds added\n');
  const opml = await feeds.run('export --opml');
  const read = readOpml(opml);
  assert.deepEqual(read.ok && read.feeds.map(({ url }) => url), [A, B]);
  await using second = await commands();
  assert.deepEqual(await second.json('import -', opml), { added: 2, known: 0, revived: 0, rejected: 0 });
  assert.equal(await second.run('export'), `${A}\n${B}\n`);
});

it('strata stack feeds removes control and invisible characters from third-party text', async () => {
  await using feeds = await commands();
  const bad = '\u009b31m\u202egnp\u2066\u200b\u001b[2Jx';
  const words = /^line 2: skipped ' 31mgnp \[2Jx': .+\nline 3: skipped 'https:\/\/\*\*\*@x\.example/;
  const input = `${A}\n${bad}\nhttps://me:secret@x.example/${bad}\n`;
  const imported = await feeds.ends(['import', '-'], 0, words, { input });
  {
    await using store = await openStore(`sqlite:${feeds.path}/strata.db`);
    const { id = 0, state } = (await store.feeds.find(A)) ?? {};
    assert.ok(state);
    const at = new Date();
    await store.feeds.record(id, { state: { ...state, title: bad }, feed: null }, { at, keepFrom: at });
  }
  const [table, json] = [await feeds.ends(['list'], 0), await feeds.ends(['list', '--json'], 0)];
  const strange = /\p{Cf}|[^\P{Cc}\n]/u;
  for (const { stdout, stderr } of [imported, table, json, await feeds.ends(['add', bad], 2)])
    assert.doesNotMatch(stdout + stderr, strange);
  assert.equal(JSON.parse(json.stdout)[0].title, bad);
});

it('strata stack feeds polls the feeds that are due, fails where none could be read, and lists the reasons', async () => {
  await using feeds = await commands();
  const none = (await feeds.run('poll')).replace(/[\d.]+ s/, 's');
  assert.equal(none, '0 feeds polled in s: no feeds due; 0 new items, 0 mentions\n');
  await feeds.run('add http://127.0.0.1/feed http://192.168.0.1/feed');
  const unread = /strata: no feed could be read; .+ feeds list --failing\n$/;
  const { polled, failed } = JSON.parse((await feeds.ends(['poll', '--json'], 1, unread)).stdout);
  assert.deepEqual([polled, failed], [2, 2]);
  assert.match(await feeds.run('list --failing'), /127\.0\.0\.1\/feed\s+failed 1 times/);
  assert.equal((await feeds.json('poll')).polled, 0, 'they are not due again');
  assert.equal(JSON.parse((await feeds.ends(['poll', '--all', '--json'], 1)).stdout).polled, 2);
});

it('strata stack feeds is interrupted by SIGINT with exit code 130, and leaves the remaining feeds due', async () => {
  await using feeds = await commands();
  // A resolver that never answers: every poll waits.
  await using resolver = createSocket('udp4').bind(0, '127.0.0.1');
  await once(resolver, 'listening');
  const asked = once(resolver, 'message');
  await feeds.run(`add ${Array.from({ length: 20 }, (_, i) => `https://h${i}.example/feed`).join(' ')}`);
  const env = { STRATA_RESOLVERS: `127.0.0.1:${resolver.address().port}` };
  const { stdout, stderr } = await feeds.ends(['poll', '--json'], 130, /^/, { env, interruptOn: asked });
  const left = 20 - JSON.parse(stdout).polled;
  assert.match(stderr, new RegExp(`interrupted: ${left} feeds still due`));
  await using store = await openStore(`sqlite:${feeds.path}/strata.db`);
  assert.equal(await store.feeds.schedule.countDue(new Date()), left);
});
