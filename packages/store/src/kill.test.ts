// A process killed while it writes, again and again at a moment of chance: nothing that it had acknowledged is lost, nothing doubled.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { checkStore, openStore } from './index.ts';
import { kept, onEach, pathOf } from './test/places.ts';

/** SQLite replays its own log after each; a server has its own, and is killed itself in another test. */
const KILLS = { sqlite: 30, postgres: 6 } as const;
const WRITER = path.join(import.meta.dirname, 'test/writer-process.ts');

onEach(kept, 'a store whose writer is killed', (place) => {
  it('has every scan, key and count that was acknowledged', { timeout: 600_000 }, async () => {
    const url = await place.fresh();
    const kills = KILLS[pathOf(url) === undefined ? 'postgres' : 'sqlite'];
    const counted = await (async () => {
      await using store = await openStore(url);
      return (await store.keys.create({ tier: 'standard' })).stored.id;
    })();
    const said = { scan: new Set<string>(), key: new Set<string>(), used: new Set<string>() };
    const writeUntilKilled = async (prefix: string) => {
      const writer = spawn(process.execPath, [WRITER, url, prefix, counted], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(writer, 'exit');
      let left = 1 + Math.floor(Math.random() * 60);
      for await (const line of createInterface({ input: writer.stdout })) {
        const [what, name = ''] = line.split(' ') as [keyof typeof said, string];
        assert.ok(!said[what].has(name), `${line} was acknowledged twice`);
        said[what].add(name);
        left -= 1;
        if (left === 0) writer.kill('SIGKILL');
      }
      assert.deepEqual(await ended, [null, 'SIGKILL']);
    };
    // Two at once: each is also killed while the other has its turn.
    for (let round = 0; round < kills / 2; round += 1)
      await Promise.all([writeUntilKilled(`a${round}`), writeUntilKilled(`b${round}`)]);
    await using store = await openStore(url);
    for (const domain of said.scan) assert.equal((await store.domain(domain))?.services.length, 3, domain);
    const ids = new Set((await store.keys.list()).map(({ id }) => id));
    for (const id of said.key) assert.ok(ids.has(id), id);
    const used = await store.quota.used(counted, '2026-01-01');
    // What was under way when it was killed may have been written, and nobody was told.
    assert.ok(used >= said.used.size && used <= said.used.size + kills, `${used}, ${said.used.size} told`);
    const { scans, domains } = await store.counts();
    assert.equal(scans, domains, 'each scan once, each domain with its scan');
    assert.deepEqual((await checkStore(url)).findings, []);
  });
});
