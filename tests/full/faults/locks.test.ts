// Services as containers have them, each with process numbers of its own, on one data directory: one works, the other refuses.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { waitForLock } from '@strata/db';
import { fillStore, settingsOf, startServe } from '../../support/serve-process.ts';
import { succeeds } from '../../support/strata-stack.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Process 1 of a new namespace, which is killed with the command. */
const CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const [program = '', ...args] = [...CONTAINER, 'true'];
const skip = spawnSync(program, args).status === 0 ? false : 'this user may not make PID namespaces (unshare)';

/** Rejects as `startServe` does; a service that starts is killed. */
async function startAndKill(directory: string): Promise<void> {
  await using _running = await startServe(directory, {}, CONTAINER);
}

describe('two services in PID namespaces of their own on one data directory', { skip }, () => {
  it('do not fork the ledger: the second refuses until the first is killed', { timeout: 180_000 }, async () => {
    await using data = await temporaryDirectory();
    const key = await fillStore(path.join(data.path, 'strata.db'), 3);
    // What an earlier version left when it was killed, as process 1 too.
    mkdirSync(path.join(data.path, 'ledger'));
    const lock = path.join(data.path, 'ledger/lock');
    writeFileSync(lock, '1 17\n');
    const ask = async (service: { get: (path: string, key: string) => Promise<Response> }, domain: string) =>
      assert.equal((await service.get(`/stack/v1/domains/${domain}`, key.free)).status, 200);
    {
      await using first = await startServe(data.path, {}, CONTAINER);
      await ask(first, 'd0.com');
      const refusal = /^strata: .+lock is held by process 1 on \S+ since \S+: another process of this service uses/;
      for (const _ of ['once', 'again']) await assert.rejects(startAndKill(data.path), { message: refusal });
      await ask(first, 'd1.com');
    }
    // The kernel may free the lock some moments after its process was reported as ended.
    const free = await waitForLock(lock, { waitMs: 30_000 });
    (free ?? assert.fail('the lock outlives its process'))[Symbol.dispose]();
    {
      await using next = await startServe(data.path, {}, CONTAINER);
      await ask(next, 'd2.com');
    }
    assert.match(await succeeds(['check-store'], settingsOf(data.path)), /ledger of \d+ leaves/);
  });
});
