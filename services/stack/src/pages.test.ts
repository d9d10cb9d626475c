// Pages for people: complete in themselves, and unable to load or send anything elsewhere.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { type Browser, chromium } from 'playwright-core';
import { company, type Harness, smallInternet, startHarness } from './test/harness.ts';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const skip = existsSync(executablePath) ? false : `no browser at ${executablePath}; set CHROMIUM_PATH to run this`;

let internet: Internet;
let service: Harness;
let exampleDomain: string;
before(async () => {
  internet = await smallInternet();
  exampleDomain = company(internet, 0);
  service = await startHarness({ internet, world: { exampleDomain } });
});
after(async () => {
  await service?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
});

describe('the pages', () => {
  /** What the markup would make a browser fetch: sources, style sheets, frames. Plain links to read are no fetch. */
  const loaded = (html: string) =>
    [
      ...html.matchAll(
        /<(?:script|img|iframe|link|source|video|audio|object|embed)\b[^>]*?\b(?:src|href|data)="([^"]+)"/gi,
      ),
    ].map(([, url = '']) => url);

  for (const page of ['/', '/reference', '/reference/']) {
    it(`serves ${page} under a policy that lets nothing in or out`, async () => {
      const { status, headers, text } = await service.ask(page);
      assert.equal(status, 200);
      assert.match(headers.get('content-type') ?? '', /^text\/html/);
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'/);
      assert.match(policy, /connect-src 'self'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /https?:|\*/);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      for (const url of loaded(text)) {
        assert.equal(new URL(url, service.base).origin, service.base, url);
        const path = new URL(url, `${service.base}/reference/`).pathname;
        assert.equal((await service.ask(path)).status, 200, url);
      }
    });
  }

  it('has an icon of its own, also where a browser asks by the old name', async () => {
    for (const path of ['/favicon.svg', '/favicon.ico']) {
      const { status, headers, text } = await service.ask(path);
      assert.deepEqual([status, headers.get('content-type')], [200, 'image/svg+xml'], path);
      assert.match(text, /^<svg /);
    }
  });

  it('offers a key, a first request, the way to verify, and the reference on the front page', async () => {
    const { text } = await service.ask('/');
    for (const part of [
      'Get a free key',
      '/stack/v1/domains/',
      'stack verify',
      'shown once',
      ...['search?', 'stats', 'intelligence/market-share?', 'alerts?', 'stream', 'security/export.csv'].map(
        (path) => `ORIGIN/stack/v1/${path}`,
      ),
      'href="/reference"',
      'href="/openapi.json"',
    ])
      assert.ok(text.includes(part), part);
  });

  it('shows the whole description in the reference, without fonts or services of others switched on', async () => {
    const { text } = await service.ask('/reference/');
    assert.match(text, /<title>Strata API reference<\/title>/);
    const described = /"url": "\.\/(openapi\.json)"/.exec(text)?.[1];
    const { body } = await service.ask(`/reference/${described}`);
    assert.deepEqual(body, (await service.ask('/openapi.json')).body);
    assert.match(text, /"withDefaultFonts":\s*false/);
    assert.match(text, /"telemetry":\s*false/);
    assert.doesNotMatch(text, /proxyUrl|cdn\.|googleapis/);
  });

  it('asks with every command of the front page as it stands', async () => {
    const { text } = await service.ask('/');
    const urls = [...text.matchAll(/<pre>curl [^<]*"ORIGIN([^"]+)"<\/pre>/g)].map(([, path = '']) =>
      path.replaceAll('&amp;', '&'),
    );
    assert.equal(urls.length, 7);
    await service.scan(exampleDomain);
    const key = await service.newKey();
    for (const path of urls) {
      const stop = new AbortController();
      const { status } = await fetch(service.base + path, { headers: { 'x-stack-key': key }, signal: stop.signal });
      stop.abort();
      assert.equal(status, 200, path);
    }
  });
});

describe('the pages in a browser', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  });
  after(() => browser?.close());

  /** A page that noted everything that went wrong in it: refused loads, missing files, errors of scripts. */
  async function opened(path: string, viewport: { width: number; height: number }) {
    const context = await browser.newContext({ viewport, permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    const trouble: string[] = [];
    page.on('console', (message) => message.type() === 'error' && trouble.push(message.text()));
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('response', (response) => response.status() >= 400 && trouble.push(response.url()));
    page.on(
      'request',
      (request) =>
        /^(?:data|blob):/.test(request.url()) || request.url().startsWith(service.base) || trouble.push(request.url()),
    );
    await page.goto(service.base + path);
    return { page, trouble };
  }

  for (const viewport of [
    { width: 360, height: 740 },
    { width: 1280, height: 900 },
  ]) {
    it(`shows whole commands, copies them, and gives keys, ${viewport.width} pixels wide`, async () => {
      const { page, trouble } = await opened('/', viewport);
      const isCutOff = () =>
        page.evaluate(() =>
          [document.documentElement, ...document.querySelectorAll('pre')].some(
            (each) => each.scrollWidth > each.clientWidth,
          ),
        );
      assert.equal(await isCutOff(), false);
      const button = page.locator('#get');
      const keys: string[] = [];
      for (const label of ['Get a free key', 'Get another key']) {
        assert.equal(await button.textContent(), label);
        await button.click();
        await page.waitForFunction((n) => document.querySelectorAll('#keys pre').length === n, keys.length + 1);
        keys.push((await page.locator('#keys pre').first().textContent()) ?? '');
      }
      assert.equal(new Set(keys).size, 2);
      assert.equal(await isCutOff(), false);
      await page.locator('main > .command button.copy').first().click();
      await page.getByText('Copied').waitFor();
      assert.equal(
        await page.evaluate(() => navigator.clipboard.readText()),
        `curl -H "X-Stack-Key: ${keys[1]}" "${service.base}/stack/v1/domains/${exampleDomain}"`,
      );
      assert.deepEqual(trouble, []);
    });
  }

  it('copies also where a page has no clipboard, as without HTTPS', async () => {
    const { page } = await opened('/', { width: 800, height: 600 });
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    const pasted = page.evaluate(
      () =>
        new Promise((resolve) => {
          document.addEventListener('copy', () => resolve(String(document.activeElement?.tagName)), { once: true });
        }),
    );
    await page.locator('button.copy').first().click();
    assert.equal(await pasted, 'TEXTAREA');
    await page.getByText('Copied').waitFor();
    assert.equal(await page.locator('textarea').count(), 0);
  });

  it('says why when there is no key, and lets one try again', async () => {
    const { page } = await opened('/', { width: 800, height: 600 });
    await page.route('**/keys', (route) => route.abort());
    await page.locator('#get').click();
    await page.getByText('could not be reached').waitFor();
    assert.equal(await page.locator('#get').isEnabled(), true);
  });

  it('opens the reference on its introduction, under its own title and icon', async () => {
    const { page, trouble } = await opened('/reference/', { width: 1280, height: 900 });
    await page.getByRole('heading', { name: 'Strata Stack Intelligence' }).waitFor();
    await page.getByText('Streams').first().waitFor();
    assert.equal(await page.title(), 'Strata API reference');
    assert.equal(await page.locator('link[rel~=icon]').first().getAttribute('href'), '/favicon.svg');
    assert.equal(await page.getByRole('navigation').getByText('Health check').count(), 0);
    assert.deepEqual(trouble, []);
  });
});
