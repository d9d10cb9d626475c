// The service behind a real nginx with the settings that it comes with: HTTP/1.0 to us, answers buffered. Skipped without nginx.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort, temporaryDirectory, until } from '../../../../tests/support/index.ts';
import { openStream, type SharedService, scanTwice, sharedService } from '../test/index.ts';

const hasNginx = spawnSync('nginx', ['-v']).error === undefined;

/** nginx before an address, until disposed. */
async function startNginx(upstream: string) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory()).path;
  const port = await freePort();
  const file = path.join(directory, 'nginx.conf');
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = kinds.map((what) => `${what}_temp_path ${path.join(directory, what)};`);
  await writeFile(
    file,
    `daemon off; worker_processes 1; pid ${path.join(directory, 'pid')}; error_log stderr;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    events {}
    http {
      access_log off; gzip on; gzip_types application/json;
      ${temporary.join(' ')}
      server { listen 127.0.0.1:${port}; location / { proxy_pass ${upstream}; } }
    }`,
  );
  const nginx: ChildProcess = spawn('nginx', ['-p', directory, '-c', file, '-e', 'stderr'], { stdio: 'ignore' });
  const exited = once(nginx, 'exit');
  stack.defer(async () => {
    nginx.kill('SIGTERM');
    await exited;
  });
  const base = `http://127.0.0.1:${port}`;
  const isServing = async () => {
    assert.equal(nginx.exitCode, null, 'nginx has ended');
    return (await fetch(`${base}/health`).catch(() => undefined))?.ok === true;
  };
  await until(isServing);
  return Object.assign(stack.move(), { base });
}

describe('behind nginx', { skip: hasNginx ? false : 'nginx is not installed', timeout: 60_000 }, () => {
  let service: SharedService;
  let nginx: Awaited<ReturnType<typeof startNginx>>;
  before(async () => {
    service = await sharedService();
    nginx = await startNginx(service.base);
  });
  after(() => nginx?.[Symbol.asyncDispose]());

  it('events arrive one by one as they happen, and the stream of a reader that leaves is closed in the service', async () => {
    const { internet } = service;
    const { app, updateLoop } = service.running;
    const domain = internet.domains().find((name) => {
      const { state, services } = internet.truth(name);
      return state === 'active' && services.filter(({ category }) => category === 'dns').length === 1;
    }) as string;
    {
      await using stream = await openStream(`${nginx.base}/stack/v1/stream`, { key: await service.newKey() });
      for (const to of ['ns1', 'dnsimple']) {
        internet.migrate(domain, { category: 'dns', to });
        await scanTwice(service, domain);
        await updateLoop.run();
        const { data } = await stream.next('migration');
        assert.equal(JSON.parse(data).change.to_id, to);
      }
      assert.equal(app.hub.subscribers, 1);
    }
    await until(() => app.hub.subscribers === 0);
  });
  it('answers arrive as they left, validators and receipts too', async () => {
    const headers = { 'x-stack-key': await service.newKey(), 'accept-encoding': 'identity' };
    for (const target of ['/stack/v1/search?limit=1000', '/stack/v1/security/export.csv']) {
      const ask = async (base: string) => {
        const response = await fetch(base + target, { headers });
        const kept = ['etag', 'content-type', 'stack-provenance', 'cache-control'];
        return [await response.text(), ...kept.map((name) => response.headers.get(name))];
      };
      const direct = await ask(service.base);
      assert.deepEqual(await ask(nginx.base), direct);
      const etag = String(direct[1]);
      const again = await fetch(nginx.base + target, { headers: { ...headers, 'if-none-match': etag } });
      assert.equal(again.status, 304);
    }
  });
});
