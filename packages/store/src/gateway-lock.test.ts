// One gateway a store: a second one gets no lock, and one that has lost it writes nothing once another has begun.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore, type Store, type TermHold } from './index.ts';
import { kept, onEach, postgres, rows } from './test/places.ts';

const DEADLINE_MS = 120_000;
const receipt = (id: string) => ({ id, keyId: 'key', body: '{}' });

async function taken(store: Store): Promise<TermHold> {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await delay(20)) {
    const hold = await store.gatewayLock.tryTake();
    if (hold) return hold;
  }
  throw new Error('nobody let go of the lock');
}

onEach(kept, 'the lock of the gateway', ({ fresh }) => {
  it('is held by one, whatever else is done with the store, and by another when that one stops', async () => {
    const url = await fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    const held = await taken(one);
    assert.equal(held.term, 1);
    assert.equal(await two.gatewayLock.tryTake(), undefined);
    await two.keys.create({ tier: 'free' });
    await using _scheduler = await two.schedulerLock.tryTake();
    assert.equal(await two.gatewayLock.tryTake(), undefined);
    await held[Symbol.asyncDispose]();
    await using next = await taken(two);
    assert.equal(next.term, 2);
    assert.deepEqual([await one.gatewayLock.lastTerm(), await two.gatewayLock.lastTerm()], [2, 2]);
  });

  it('goes with a process that is killed', async () => {
    const url = await fresh();
    await using store = await openStore(url);
    const program = `
      import { openStore } from ${JSON.stringify(import.meta.resolve('./index.ts'))};
      const store = await openStore(${JSON.stringify(url)});
      console.log((await store.gatewayLock.tryTake()).term);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      assert.equal(String((await once(child.stdout, 'data'))[0]).trim(), '1');
      assert.equal(await store.gatewayLock.tryTake(), undefined);
    } finally {
      child.kill('SIGKILL');
    }
    await using held = await taken(store);
    assert.equal(held.term, 2);
  });
});

onEach([postgres], 'a gateway that lost its lock', ({ fresh }) => {
  it('writes until another begins, and nothing more after that', async () => {
    const url = await fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    let term = (await taken(one)).term;
    const early = one.inGatewayTerm(() => term);
    const first = await early.answers.keep([receipt('rcp_1')]);
    await rows(url, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'strata gateway'");
    await early.answers.enter(first, []);
    await using _next = await taken(two);
    const refused = { code: 'superseded' };
    await assert.rejects(early.answers.keep([receipt('rcp_2')]), refused);
    await assert.rejects(early.answers.enter(first + 5, []), refused);
    await assert.rejects(early.standings.put('peer', '{}'), refused);
    assert.deepEqual((await one.standings.all()).size, 0);
    term = _next.term;
    await early.standings.put('peer', '{}');
  });
});
