// A process killed while it writes, again and again at a random moment: nothing that it had acknowledged is lost, nothing doubled.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { checkStore, openStore } from './index.ts';
import { assertCounts } from './test/feed-store.ts';
import { file, kept, onEach, rows } from './test/places.ts';

const WRITER = path.join(import.meta.dirname, 'test/writer-process.ts');

onEach(kept, 'a store whose writer is killed', (place) => {
  it('has every scan, key, feed and count that was acknowledged', { timeout: 600_000 }, async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    const counted = (await store.keys.create({ tier: 'standard' })).stored.id;
    // SQLite replays its own log after each; a server has its own, and is killed itself in another test.
    const kills = place === file ? 20 : 6;
    const acknowledged = {
      scan: new Set<string>(),
      key: new Set<string>(),
      used: new Set<string>(),
      feed: new Set<string>(),
    };
    const writeUntilKilled = async (prefix: string) => {
      const writer = spawn(process.execPath, [WRITER, url, prefix, counted], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(writer, 'exit');
      let left = 1 + Math.floor(Math.random() * 60);
      for await (const line of createInterface({ input: writer.stdout })) {
        const [what, name = ''] = line.split(' ') as [keyof typeof acknowledged, string];
        assert.ok(!acknowledged[what].has(name), `${line} was acknowledged twice`);
        acknowledged[what].add(name);
        left -= 1;
        if (left === 0) writer.kill('SIGKILL');
      }
      assert.deepEqual(await ended, [null, 'SIGKILL']);
    };
    // Two at once: each is also killed while the other writes.
    for (let round = 0; round < kills / 2; round += 1)
      await Promise.all([writeUntilKilled(`a${round}`), writeUntilKilled(`b${round}`)]);
    const { scan, key, used, feed } = acknowledged;
    for (const domain of scan) assert.equal((await store.domain(domain))?.services.length, 3, domain);
    for (const url of feed) assert.equal((await store.feeds.find(url))?.items, 20, url);
    const ids = new Set((await store.keys.list()).map(({ id }) => id));
    assert.deepEqual(key.difference(ids), new Set());
    const counts = await store.quota.used(counted, '2026-01-01');
    // A request in progress when its process was killed may have been counted, without an acknowledgement.
    assert.ok(counts >= used.size && counts <= used.size + kills, `${counts}, ${used.size} acknowledged`);
    const { domains, scannedDomains, scans, services } = await store.counts();
    assert.deepEqual([scannedDomains, scans, services], [domains, domains, 3 * domains], 'each scan complete and once');
    assert.equal((await rows(url, 'SELECT seq FROM events')).length, domains);
    await assertCounts(url);
    assert.deepEqual((await checkStore(url)).findings, []);
  });

  it('gets its schema once when several processes open it first', async () => {
    const url = await place.empty();
    const script = `
      import { openStore } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))};
      await using store = await openStore(process.argv[1]);
      await store.addDomains([process.pid + '.com'], { source: 'test' });
    `;
    const children = [1, 2, 3].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', script, url], { stdio: ['ignore', 'ignore', 'inherit'] }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
    assert.deepEqual(codes, [0, 0, 0]);
    await using store = await openStore(url);
    assert.equal((await store.counts()).domains, 3);
  });
});
