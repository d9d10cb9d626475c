// A job whose process is killed while it writes the file.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fillStore, startServe } from '../../support/serve-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('continues after each restart, and its file has every row once', { timeout: 300_000 }, async () => {
  await using directory = await temporaryDirectory();
  const { free } = await fillStore(path.join(directory.path, 'strata.db'), 20);
  const names = Array.from({ length: 400_000 }, (_, i) => `d${i}.com`);
  let service = await startServe(directory.path);
  try {
    const ask = (at: string, init = {}) =>
      fetch(`${service.base}/stack/v1/${at}`, {
        ...init,
        headers: { 'x-stack-key': free, 'content-type': 'text/csv' },
      });
    const body = `domain,rank\n${names.map((name, i) => `${name},${i}`).join('\n')}`;
    const jobIn = async (answer: Promise<Response>) =>
      ((await (await answer).json()) as { job: { id: string; state: string; rows: number; sha256: string } }).job;
    const { id } = await jobIn(ask('lookups?fields=domain,state', { method: 'POST', body }));
    for (let kill = 0; kill < 3; kill += 1) {
      let job = await jobIn(ask(`jobs/${id}`));
      for (; job.rows === 0; job = await jobIn(ask(`jobs/${id}`))) await delay(5);
      assert.equal(job.state, 'running', 'killed while it writes');
      await service.kill();
      service = await startServe(directory.path);
    }
    let job = await jobIn(ask(`jobs/${id}?wait=20`));
    for (; job.state === 'running' || job.state === 'queued'; job = await jobIn(ask(`jobs/${id}?wait=20`)));
    const file = Buffer.from(await (await ask(`jobs/${id}/file`)).arrayBuffer());
    assert.equal(createHash('sha256').update(file).digest('hex'), job.sha256);
    const rows = names.map((name, i) => `${name},${i < 20 ? 'active' : 'unknown'},${i}`);
    assert.equal(file.toString(), `${['domain,state,rank', ...rows].join('\r\n')}\r\n`);
    assert.deepEqual((await readdir(path.join(directory.path, 'jobs'))).sort(), [`${id}.data`, `${id}.json`]);
  } finally {
    await service.kill();
  }
});
