// Processes and servers that are killed while they write, or start together; and more of the histories of scan-work.test.ts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { checkStore } from '@strata/db';
import { taken, untilLost } from '../../../../tests/support/database/locks.ts';
import { startPostgres } from '../../../../tests/support/database/postgres.ts';
import { randomFrom, shared } from '../../../../tests/support/index.ts';
import { openStore, stackSchema } from './index.ts';
import { exec, failsWith, file, kept, onEach, postgres, rows } from './test/backends.ts';
import { assertCounts } from './test/feed-store.ts';
import { compareBatches } from './test/scan-histories.ts';

function start(...args: string[]) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](), ended: once(child, 'exit') };
}
const programAt = (name: string) => path.join(import.meta.dirname, name);

onEach(kept, 'a store of several processes', (backend, _test, _onFresh, onEmpty) => {
  it('has every scan, key, feed and count that was acknowledged before a kill', { timeout: 600_000 }, async () => {
    const url = await backend.fresh();
    await using store = await openStore(url);
    const counted = (await store.keys.create({ tier: 'standard' })).stored.id;
    // SQLite replays its own log after each; a server has its own, and is killed itself in another test.
    const kills = backend === file ? 20 : 6;
    const [scan, key, used, feed] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()];
    const acknowledged = { scan, key, used, feed };
    const random = randomFrom(1);
    const writeUntilKilled = async (prefix: string) => {
      const { child, lines, ended } = start(programAt('test/writer-process.ts'), url, prefix, counted);
      let left = 1 + Math.floor(random() * 60);
      for await (const line of lines) {
        const [what, name = ''] = line.split(' ') as [keyof typeof acknowledged, string];
        assert.ok(!acknowledged[what].has(name), `${line} was acknowledged twice`);
        acknowledged[what].add(name);
        left -= 1;
        if (left === 0) child.kill('SIGKILL');
      }
      assert.deepEqual(await ended, [null, 'SIGKILL']);
    };
    // Two at once: each is also killed while the other writes.
    for (let round = 0; round < kills / 2; round += 1)
      await Promise.all([writeUntilKilled(`a${round}`), writeUntilKilled(`b${round}`)]);
    for (const domain of scan) assert.equal((await store.domains.profile(domain))?.services.length, 3, domain);
    for (const url of feed) assert.equal((await store.feeds.find(url))?.items, 20, url);
    const ids = new Set((await store.keys.list()).map(({ id }) => id));
    assert.deepEqual(key.difference(ids), new Set());
    const counts = await store.quota.used(counted, '2026-01-01');
    // A request in progress when its process was killed may have been counted, without an acknowledgement.
    assert.ok(counts >= used.size && counts <= used.size + kills, `${counts}, ${used.size} acknowledged`);
    const { domains, scannedDomains, scans, services } = await store.inspection.counts();
    assert.deepEqual([scannedDomains, scans, services], [domains, domains, 3 * domains], 'each scan complete and once');
    assert.equal((await rows(url, 'SELECT seq FROM events')).length, domains);
    await assertCounts(url);
    assert.deepEqual((await checkStore(stackSchema, url)).findings, []);
  });

  onEmpty('gets its schema once when three open it first', async (url) => {
    const program = `import { openStore } from ${JSON.stringify(programAt('index.ts'))};
      await using store = await openStore(process.argv[1]);
      await store.domains.add([process.pid + '.com'], { source: 'test' });`;
    const ended = [1, 2, 3].map(() => start('--input-type=module', '-e', program, url).ended);
    assert.deepEqual(await Promise.all(ended), Array(3).fill([0, null]));
    await using store = await openStore(url);
    assert.equal((await store.inspection.counts()).domains, 3);
  });

  it('has in every table what the same scans leave one by one', async () => {
    for (let seed = 4; seed <= 12; seed += 1) assert.ok((await compareBatches(backend, seed)) > 0, `seed ${seed}`);
  });
});

describe('a server that is killed', { skip: postgres.skip }, () => {
  const started = shared(() => startPostgres());

  it('ends the lock of the scheduler until the restart, and the clock continues', async () => {
    const server = await started();
    mock.timers.enable({ apis: ['Date'], now: Date.parse('2020-01-01T00:00:00Z') });
    using _timers = mock.timers;
    await using store = await openStore(await server.fresh());
    const held = await taken(store.schedulerLock);
    await server.kill();
    const [before, steady] = [store.clock().getTime(), performance.now()];
    await untilLost(held);
    await assert.rejects(store.schedulerLock.tryTake());
    await delay(500);
    const passed = store.clock().getTime() - before;
    assert.ok(Math.abs(passed - (performance.now() - steady)) <= 100, 'as fast as the steady clock');
    await server.start();
    await using again = await taken(store.schedulerLock);
    assert.ok(again.term > held.term);
  });

  it('refuses a wrong password, and does not repeat it', async () => {
    const server = await started();
    await server.allow('host all guarded 127.0.0.1/32 scram-sha-256');
    const url = await server.fresh();
    await exec(url, "create role guarded login password 'right'; grant all on schema public to guarded");
    const withPassword = (password: string) => Object.assign(new URL(url), { username: 'guarded', password }).href;
    const error = await openStore(withPassword('hunter2')).catch((error: Error) => error);
    assert.ok(failsWith('refused')(error) && !inspect(error).includes('hunter2'), inspect(error));
    await (await openStore(withPassword('right')))[Symbol.asyncDispose]();
  });
});

function startHolder(url: string) {
  const { child, lines } = start(programAt('test/holder-process.ts'), url);
  const silence = () => delay(120_000, { value: 'no line' }, { ref: false });
  const line = async () => (await Promise.race([lines.next(), silence()])).value as string | undefined;
  return { child, line, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

onEach([postgres], 'the lock of the scheduler', (_backend, test) => {
  test('passes from a process that was killed, or stopped, to another', async (store, url) => {
    using killed = startHolder(url);
    assert.equal(await killed.line(), 'held 1');
    killed.child.kill('SIGKILL');
    using stopped = startHolder(url);
    assert.equal(await stopped.line(), 'held 2');
    stopped.child.kill('SIGSTOP');
    await using held = await taken(store.schedulerLock);
    assert.equal(held.term, 3);
    await store.inTerm(held.term).signals.setWatched({ seq: 3, day: 0 });
    // It does not know yet, and continues where it was stopped.
    stopped.child.kill('SIGCONT');
    assert.deepEqual([await stopped.line(), await stopped.line()], ['refused', 'lost']);
    assert.deepEqual(await store.signals.watched(), { seq: 3, day: 0 });
  });
});
