// The same client in a real browser: with types stripped, nothing bundled.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import { STREAM } from './test/http-server.ts';
import { GOOD_PAGES, PATHS, vector } from './test/service.ts';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const skip = existsSync(executablePath) ? false : `no browser at ${executablePath}; set CHROMIUM_PATH to run this`;
const quiet = ['background-networking', 'component-update', 'gpu', 'sync'].map((each) => `--disable-${each}`);
const args = ['--no-sandbox', '--no-first-run', ...quiet];

const root = path.join(import.meta.dirname, '../../..');
const imports = {
  '@strata/receipts': '/packages/receipts/src/index.ts',
  '@noble/hashes/': '/node_modules/@noble/hashes/',
};
const home = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">window.client = await import('/packages/client/src/index.ts');</script>`;

/** Source files of this repository as JavaScript, and the good service at the same origin. */
const server = createServer((request, response) => {
  const name = new URL(request.url ?? '/', 'http://localhost').pathname;
  const page = name === '/' ? { body: home, headers: { 'content-type': 'text/html' } } : GOOD_PAGES[name];
  if (name === '/stack/v1/stream') {
    response.writeHead(200, STREAM);
    const id = Number(request.headers['last-event-id'] ?? 0) + 1;
    // Each line breaks after one event.
    return response.end(`retry: 1\nid: ${id}\nevent: migration\ndata: {"type":"migration","id":"ev_${id}"}\n\n`);
  }
  if (page) return response.writeHead(200, page.headers ?? {}).end(page.body);
  const file = path.join(root, name);
  if (!/\.(ts|js)$/.test(name) || !existsSync(file)) return response.writeHead(404).end('{}');
  const source = readFileSync(file, 'utf8');
  response.writeHead(200, { 'content-type': 'text/javascript' });
  return response.end(name.endsWith('.ts') ? stripTypeScriptTypes(source) : source);
});

declare global {
  interface Window {
    client: typeof import('./index.ts');
  }
}

describe('in a browser', { skip }, () => {
  let browser: Browser;
  let page: Page;
  before(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    browser = await chromium.launch({ executablePath, args });
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.waitForFunction(() => window.client !== undefined);
  });
  after(async () => {
    await browser?.close();
    server.close();
  });

  it('a good answer verifies, saved or fetched', async () => {
    const good = { body: vector('answer.json'), paths: [PATHS.answer, PATHS.csv] };
    const verified = await page.evaluate(({ body, paths }) => {
      const fetched = paths.map((at) => window.client.verifyUrl(location.origin + at));
      return Promise.all([window.client.verifyBody(body, { baseUrl: location.origin }), ...fetched]);
    }, good);
    for (const { ok, steps } of verified) assert.ok(ok, JSON.stringify(steps));
  });

  it('the client asks, verifies, follows events over a line that breaks, and throws a problem', async () => {
    const found = await page.evaluate(async () => {
      const client = new window.client.StackClient({ baseUrl: location.origin, key: 'ssk_1' });
      const answer = await client.get('/stack/v1/domains/{domain}', { path: { domain: 'example.com' } });
      const { ok } = await client.verify(answer);
      const { failedStep } = await client.verify({ ...answer, text: answer.text.replace('Cloudflare', 'Cloudflair') });
      const ids: string[] = [];
      for await (const { id } of client.events()) if (ids.push(id) === 2) break;
      const error = await client.get('/stack/v1/stats').catch((reason: unknown) => reason);
      const problem = error instanceof window.client.StackProblem && `${error.status} ${error.code}`;
      return [answer.body.domain, ok, failedStep, ids, problem];
    });
    assert.deepEqual(found, ['example.com', true, 'signature', ['ev_1', 'ev_2'], '404 invalid_answer']);
  });
});
