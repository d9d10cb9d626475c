// The reference in a real browser.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { type SharedService, sharedService } from './test/shared.ts';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const skip = existsSync(executablePath) ? false : `no browser at ${executablePath}; set CHROMIUM_PATH to run this`;

describe('the reference in a browser', { skip }, () => {
  let service: SharedService;
  let browser: Browser;
  before(async () => {
    service = await sharedService();
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
