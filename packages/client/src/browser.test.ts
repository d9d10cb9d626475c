// The same verify functions in a real browser: types stripped on the way, nothing bundled.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { VerifiedAnswer } from './index.ts';
import { GOOD_PAGES, PATHS, vector } from './test/service.ts';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const skip = existsSync(executablePath) ? false : `no browser at ${executablePath}; set CHROMIUM_PATH to run this`;
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

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

  const verifyText = (text: string): Promise<VerifiedAnswer> =>
    page.evaluate((body) => window.client.verifyBody(body, { baseUrl: location.origin }), text);

  it('a good answer verifies, saved or fetched', async () => {
    const saved = await verifyText(vector('answer.json'));
    assert.ok(saved.ok, JSON.stringify(saved.steps));
    const fetched = await page.evaluate((url) => window.client.verifyUrl(location.origin + url), PATHS.answer);
    assert.ok(fetched.ok, JSON.stringify(fetched.steps));
    const csv = await page.evaluate((url) => window.client.verifyUrl(location.origin + url), PATHS.csv);
    assert.ok(csv.ok, JSON.stringify(csv.steps));
  });

  it('an altered answer fails at the signature', async () => {
    const altered = await verifyText(vector('answer.json').replace('Cloudflare', 'Cloudflair'));
    assert.equal(altered.failedStep, 'signature');
  });
});
