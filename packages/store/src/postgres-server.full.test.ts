// What needs a PostgreSQL server of its own, killed and started again, or asking for passwords; and processes that lose a lock.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it, mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { shared } from '../../../tests/support/shared.ts';
import { until } from '../../../tests/support/until.ts';
import { openStore } from './index.ts';
import { failsWith } from './test/fails-with.ts';
import { taken, untilLost } from './test/locks.ts';
import { exec, kept, onEach, postgres } from './test/places.ts';
import { startPostgres } from './test/postgres.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

describe('a server that is killed', { skip: postgres.skip }, () => {
  const started = shared(() => startPostgres());

  it('under load has kept every scan that was acknowledged, and the store goes on with the next', async () => {
    const server = await started();
    await using store = await openStore(await server.fresh());
    const acknowledged: string[] = [];
    const failed: unknown[] = [];
    let isOver = false;
    const recording = Array.from({ length: 8 }, async (_, worker) => {
      for (let n = 0; !isOver; n += 1) {
        const name = `d${worker}-${n}.com`;
        await store.recordScan(scanOf(name, day(0), GOOGLE), confirm).then(
          () => acknowledged.push(name),
          (error) => failed.push(error),
        );
      }
    });
    const untilMore = (count: number) => {
      const enough = acknowledged.length + count;
      return until(() => acknowledged.length >= enough, { limitMs: 120_000 });
    };
    for (let kills = 1; kills <= 2; kills += 1) {
      await untilMore(40);
      await server.kill();
      await until(() => failed.some(failsWith('unreachable')), { limitMs: 120_000 });
      await server.start();
      for (const error of failed)
        assert.ok(failsWith('connection-lost')(error) || failsWith('unreachable')(error), String(error));
      failed.length = 0;
    }
    await untilMore(20);
    isOver = true;
    await Promise.all(recording);
    for (const name of acknowledged) assert.equal((await store.domain(name))?.services.length, 3, name);
    const { domains, scans, services } = await store.counts();
    assert.deepEqual([scans, services, (await store.eventsSince(0, 10_000)).length], [domains, 3 * domains, domains]);
  });

  it('ends the lock of the scheduler until the restart, and leaves a clock that goes on', async () => {
    const server = await started();
    mock.timers.enable({ apis: ['Date'], now: Date.parse('2020-01-01T00:00:00Z') });
    try {
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
    } finally {
      mock.timers.reset();
    }
  });

  it('refuses a wrong password', async () => {
    const server = await started();
    await server.allow('host all guarded 127.0.0.1/32 scram-sha-256');
    const url = await server.fresh();
    await exec(url, "create role guarded login password 'right'; grant all on schema public to guarded");
    const withPassword = (password: string) => Object.assign(new URL(url), { username: 'guarded', password }).href;
    await assert.rejects(openStore(withPassword('wrong')), failsWith('refused'));
    await using store = await openStore(withPassword('right'));
    assert.equal((await store.counts()).domains, 0);
  });
});

/** A process of its own that takes the lock of this name. */
function startHolder(url: string, name: 'scheduler' | 'gateway') {
  const program = path.join(import.meta.dirname, 'test/holder-process.ts');
  const child = spawn(process.execPath, [program, url, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const silence = () => delay(120_000, { value: 'no line' }, { ref: false });
  const line = async () => (await Promise.race([lines.next(), silence()])).value as string | undefined;
  return { child, line, [Symbol.dispose]: () => void child.kill('SIGKILL') };
}

onEach([postgres], 'the lock of the scheduler', (_place, test) => {
  test('passes from a process that was killed, or stopped, to another', async (store, url) => {
    using killed = startHolder(url, 'scheduler');
    assert.equal(await killed.line(), 'held 1');
    killed.child.kill('SIGKILL');
    using stopped = startHolder(url, 'scheduler');
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

onEach(kept, 'the lock of the gateway', (_place, test) => {
  test('ends with a process that is killed', async (store, url) => {
    using holder = startHolder(url, 'gateway');
    assert.equal(await holder.line(), 'held 1');
    assert.equal(await store.gatewayLock.tryTake(), undefined);
    holder.child.kill('SIGKILL');
    await using held = await taken(store.gatewayLock);
    assert.equal(held.term, 2);
  });
});
