// A download whose process is killed with SIGKILL goes on where its part ends.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { fakeService } from '../../../../../tests/support/fake-service.ts';
import { until } from '../../../../../tests/support/until.ts';
import { shelf, useDownloads } from '../../test/downloads.ts';

describe('a download', () => {
  const { downloads, left } = useDownloads();
  it('is continued where its part ends, after kill -9 of its process, several times', async () => {
    const it = shelf(randomBytes(3_000_000));
    const { send } = it;
    it.send = (response, body) => {
      let at = 0;
      const timer = setInterval(() => {
        response.write(body.subarray(at, at + 20_000));
        at += 20_000;
      }, 5);
      response.on('close', () => clearInterval(timer));
    };
    await using server = await fakeService(it.script);
    const origin = server.base;
    const program = `
    import { createFetcher } from ${JSON.stringify(new URL('./fetcher.ts', import.meta.url).href)};
    const fetcher = createFetcher({ userAgent: 'test', trustedOrigins: [${JSON.stringify(origin)}] });
    const outcome = await fetcher.download(${JSON.stringify(`${origin}/f`)}, ${JSON.stringify(downloads.file)}, {
      maxBytes: 1e7, timeoutMs: 20_000,
    });
    await fetcher[Symbol.asyncDispose]();
    console.log(JSON.stringify(outcome));`;
    const start = () =>
      spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 2] });
    let size = 0;
    for (let round = 1; round <= 3; round++) {
      const child = start();
      const exited = once(child, 'exit');
      const isGrown = async () =>
        ((await stat(`${downloads.file}.part`).catch(() => undefined))?.size ?? 0) > size + 60_000;
      await until(isGrown);
      child.kill('SIGKILL');
      await exited;
      ({ size } = await stat(`${downloads.file}.part`));
      assert.ok(it.content.subarray(0, size).equals(await readFile(`${downloads.file}.part`)));
    }
    it.send = send;
    const child = start();
    const output = await text(child.stdout as Readable);
    assert.equal(JSON.parse(output).kind, 'downloaded');
    assert.ok(it.content.equals(await readFile(downloads.file)));
    assert.match(it.asked.at(-1) ?? '', new RegExp(`^bytes=${size}- `));
    assert.deepEqual([left('.part'), left('.part.json')], [false, false]);
  });
});
