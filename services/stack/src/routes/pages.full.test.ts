// The reference in a real browser.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openBrowser, skip } from '../../../../tests/support/web/browser.ts';
import { sharedService } from '../test/shared.ts';

describe('the reference in a browser', { skip }, () => {
  it('opens on its introduction, under its own title and icon, and loads nothing from elsewhere', async () => {
    const service = await sharedService();
    const isOwn = (url: string) => /^(?:data|blob):/.test(url) || url.startsWith(service.base);
    await using browser = await openBrowser();
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('response', (response) => response.status() >= 400 && problems.push(response.url()));
    page.on('request', (request) => isOwn(request.url()) || problems.push(request.url()));
    await page.goto(`${service.base}/reference/`);
    await page.getByRole('heading', { name: 'Strata Stack Intelligence' }).waitFor();
    await page.getByText('Streams').first().waitFor();
    assert.equal(await page.title(), 'Strata API reference');
    assert.equal(await page.locator('link[rel~=icon]').first().getAttribute('href'), '/favicon.svg');
    assert.equal(await page.getByRole('navigation').getByText('Health check').count(), 0);
    assert.deepEqual(problems, []);
  });
});
