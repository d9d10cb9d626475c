// Subscriptions from the command line, with nothing on the network that answers.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { readOpml } from '@strata/feeds';
import { openStore } from '@strata/store';
import { runStrata, temporaryDirectory } from '../test/run-strata.ts';

const A = 'https://a.example/feed.xml';
const B = 'https://b.example/atom';

const settings = (directory: string) => ({
  STRATA_DATA: directory,
  STRATA_RESOLVERS: '127.0.0.1:1',
  STRATA_LOG_LEVEL: 'silent',
});

async function commands() {
  const data = await temporaryDirectory();
  const run = (args: string[], input = '') =>
    runStrata(['stack', 'feeds', ...args], { env: settings(data.path), input });
  return { directory: data.path, run, [Symbol.asyncDispose]: () => data[Symbol.asyncDispose]() };
}

describe('strata stack feeds', () => {
  it('adds, lists and removes feeds, for people and as JSON', async () => {
    await using feeds = await commands();
    assert.match((await feeds.run(['list'])).stdout, /^no feeds yet/);
    const added = await feeds.run(['add', A, 'feed://b.example/atom', `${A}#top`]);
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /^2 feeds added, 1 known\n$/);
    const again = JSON.parse((await feeds.run(['add', A, '--json'])).stdout);
    assert.deepEqual(again, { added: 0, known: 1, revived: 0, rejected: 0 });
    const table = await feeds.run(['list']);
    assert.match(table.stdout, /https:\/\/a\.example\/feed\.xml\s+active\s+0\s+0\s+never/);
    const listed = JSON.parse((await feeds.run(['list', '--json'])).stdout);
    for (const [i, url] of [A, B].entries())
      assert.deepEqual([listed[i].url, listed[i].status, listed[i].polled_at], [url, 'active', null]);
    const removed = await feeds.run(['remove', A, 'https://nobody.example/']);
    assert.deepEqual([removed.code, removed.stdout], [1, '1 feed removed, and what it said\n']);
    assert.match(removed.stderr, /^strata: nobody subscribes to https:\/\/nobody\.example\/\n$/);
    assert.equal((await feeds.run(['export'])).stdout, `${B}\n`);
  });

  it('refuses what is no address of a feed, and then adds nothing', async () => {
    await using feeds = await commands();
    for (const [url, words] of [
      ['example.com/feed', /this is no address; give one such as https/],
      ['file:///etc/passwd', /only http and https/],
      ['https://me:secret@x.example/feed', /^strata: '[^']*\*\*\*@x.example[^']*'.+name or password/],
    ] as const) {
      const { code, stdout, stderr } = await feeds.run(['add', A, url]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, words);
    }
    assert.equal((await feeds.run(['export'])).stdout, '');
    assert.equal((await feeds.run(['add'])).code, 2);
  });

  it('takes lists and OPML, from a file and from standard input, and gives them out again', async () => {
    await using feeds = await commands();
    const file = path.join(feeds.directory, 'list.txt');
    await writeFile(file, `\uFEFF# mine\r\n${A}\r\n\r\nnonsense\r\n${B} # another\r\n${A}\r\n`);
    const imported = await feeds.run(['import', file]);
    assert.deepEqual([imported.code, imported.stdout], [0, '2 feeds added\n']);
    assert.match(imported.stderr, /^line 4: 'nonsense' is left out: this is no address/);

    const { stdout: opml } = await feeds.run(['export', '--opml']);
    const read = readOpml(opml);
    assert.ok(read.ok);
    assert.deepEqual(read.ok && read.feeds.map(({ url }) => url), [A, B]);
    await using others = await commands();
    const piped = await others.run(['import', '-', '--json'], opml);
    assert.deepEqual(JSON.parse(piped.stdout), { added: 2, known: 0, revived: 0, rejected: 0 });
    assert.equal((await others.run(['export'])).stdout, `${A}\n${B}\n`);
  });

  it('lets no word of strangers steer the terminal', async () => {
    await using feeds = await commands();
    const bad = '\u009b31m\u202egnp\u2066\u200b\u001b[2Jx';
    const imported = await feeds.run(['import', '-'], `${A}\n${bad}\nhttps://me:secret@x.example/${bad}\n`);
    assert.match(imported.stderr, /^line 2: ' 31mgnp \[2Jx' is left out: .+\nline 3: 'https:\/\/\*\*\*@x\.example/);
    {
      await using store = await openStore(`sqlite:${feeds.directory}/strata.db`);
      const { id = 0, state } = (await store.feeds.find(A)) ?? {};
      assert.ok(state);
      const at = new Date();
      await store.feeds.record(id, { state: { ...state, title: bad }, feed: null }, { at, keepFrom: at });
    }
    const [table, json] = [await feeds.run(['list']), await feeds.run(['list', '--json'])];
    const strange = /\p{Cf}|[^\P{Cc}\n]/u;
    for (const { stdout, stderr } of [imported, table, json, await feeds.run(['add', bad])])
      assert.doesNotMatch(stdout + stderr, strange);
    assert.equal(JSON.parse(json.stdout)[0].title, bad);
  });

  it('says what is wrong with a list', async () => {
    await using feeds = await commands();
    const missing = path.join(feeds.directory, 'missing.opml');
    for (const [file, input, code, words] of [
      [missing, '', 2, /there is no file/],
      [feeds.directory, '', 2, /is a directory, not a file/],
      ['-', '<html><p>not a list', 2, /'-' cannot be read: /],
      ['-', '# nothing\n', 1, /^strata: there is no feed in it\n$/],
    ] as const) {
      const outcome = await feeds.run(['import', file], input);
      assert.equal(outcome.code, code, outcome.stderr);
      assert.match(outcome.stderr, words);
    }
  });

  it('polls what is due, says that nothing could be read, and shows why', async () => {
    await using feeds = await commands();
    const none = await feeds.run(['poll']);
    assert.deepEqual(
      [none.code, none.stdout.replace(/[\d.]+ s/, 's')],
      [0, '0 feeds polled in s: none was due; 0 new items, 0 mentions\n'],
    );
    await feeds.run(['add', 'http://127.0.0.1/feed', 'http://192.168.0.1/feed']);
    const polled = await feeds.run(['poll', '--json']);
    assert.equal(polled.code, 1);
    const { polled: count, failed } = JSON.parse(polled.stdout);
    assert.deepEqual([count, failed], [2, 2]);
    assert.match(polled.stderr, /strata: no feed could be read; `feeds list --failing` says why\n$/);
    assert.match((await feeds.run(['list', '--failing'])).stdout, /127\.0\.0\.1\/feed\s+failed, 1 in a row/);
    const nothing = JSON.parse((await feeds.run(['poll', '--json'])).stdout);
    assert.equal(nothing.polled, 0, 'they are not due again');
    assert.equal(JSON.parse((await feeds.run(['poll', '--all', '--json'])).stdout).polled, 2);
  });

  it('is interrupted by SIGINT with exit code 130, and leaves due what it did not poll', async () => {
    await using feeds = await commands();
    // A resolver that never answers: every poll waits.
    const resolver = createSocket('udp4').bind(0, '127.0.0.1');
    await once(resolver, 'listening');
    const asked = once(resolver, 'message');
    try {
      await feeds.run(['add', ...Array.from({ length: 20 }, (_, i) => `https://h${i}.example/feed`)]);
      const polled = await runStrata(['stack', 'feeds', 'poll', '--json'], {
        env: { ...settings(feeds.directory), STRATA_RESOLVERS: `127.0.0.1:${resolver.address().port}` },
        interruptOn: asked,
      });
      assert.equal(polled.code, 130, polled.stderr);
      const { polled: count } = JSON.parse(polled.stdout);
      assert.match(polled.stderr, new RegExp(`interrupted: ${20 - count} feeds are still due`));
      await using store = await openStore(`sqlite:${feeds.directory}/strata.db`);
      assert.equal(await store.feeds.countDue(new Date()), 20 - count);
    } finally {
      resolver.close();
    }
  });
});
