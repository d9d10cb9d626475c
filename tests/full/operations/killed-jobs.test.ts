// A job whose process is killed or stalls while it writes the file.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/stack/store';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { testNodes } from '../../support/nodes.ts';
import { fillStore, startServe } from '../../support/serve-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const names = Array.from({ length: 400_000 }, (_, i) => `d${i}.com`);
const body = `domain,rank\n${names.map((name, i) => `${name},${i}`).join('\n')}`;
const rowsOf = (known: number) =>
  `${['domain,state,rank', ...names.map((name, i) => `${name},${i < known ? 'active' : 'unknown'},${i}`)].join('\r\n')}\r\n`;

/** Asks at the current address, as the key. */
function asked(base: () => string, key: string) {
  const headers = { 'x-stack-key': key, 'content-type': 'text/csv' };
  const ask = (at: string, init = {}) => fetch(`${base()}/stack/v1/${at}`, { ...init, headers });
  const job = async (at: string, init = {}) =>
    ((await (await ask(at, init)).json()) as { job: { id: string; state: string; rows: number; sha256: string } }).job;
  return {
    start: () => job('lookups?fields=domain,state', { method: 'POST', body }),
    async begun(id: string) {
      for (;;) {
        const { rows, state } = await job(`jobs/${id}`);
        if (rows > 0) return assert.equal(state, 'running', 'not ended when it is killed');
        await delay(5);
      }
    },
    async file(id: string) {
      let ended = await job(`jobs/${id}?wait=20`);
      while (ended.state === 'running' || ended.state === 'queued') ended = await job(`jobs/${id}?wait=20`);
      const file = Buffer.from(await (await ask(`jobs/${id}/file`)).arrayBuffer());
      assert.equal(createHash('sha256').update(file).digest('hex'), ended.sha256);
      return file.toString();
    },
  };
}

it('continues after each restart, and its file has every row once', { timeout: 300_000 }, async () => {
  await using directory = await temporaryDirectory();
  const { free } = await fillStore(path.join(directory.path, 'strata.db'), 20);
  let service = await startServe(directory.path);
  try {
    const { start, begun, file } = asked(() => service.base, free);
    const { id } = await start();
    for (let kill = 0; kill < 3; kill += 1) {
      await begun(id);
      await service.kill();
      service = await startServe(directory.path);
    }
    assert.equal(await file(id), rowsOf(20));
    assert.deepEqual(await readdir(path.join(directory.path, 'jobs')), [`${id}.4.data`]);
  } finally {
    await service.kill();
  }
});

it('continues at another node when one stalls and one is killed', {
  timeout: 300_000,
  skip: postgres.skip,
}, async () => {
  const databaseUrl = await postgres.fresh();
  await using store = await openStore(databaseUrl, { poolSize: 3 });
  const { key } = await store.keys.create({ tier: 'unlimited' });
  await using nodes = await testNodes({ databaseUrl, domains: 0 });
  const [one, two] = await Promise.all([nodes.start('api'), nodes.start('api')]);
  const at = ({ base }: { readonly base: string }) => asked(() => base, key);
  const { id } = await at(one).start();
  await at(two).begun(id);
  // One of them writes the file.
  one.child.kill('SIGSTOP');
  await two.kill();
  const three = await nodes.start('api');
  assert.equal(await at(three).file(id), rowsOf(0));
  one.child.kill('SIGCONT');
  assert.equal(await at(one).file(id), rowsOf(0));
  assert.equal((await store.jobs.find(id))?.attempts, 2);
  await store.jobs.remove([id]);
  assert.deepEqual(await store.jobs.list(), []);
  assert.ok((await store.jobs.chunks?.read({ id, attempt: 2 }).next())?.done);
});
