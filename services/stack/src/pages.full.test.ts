// The reference in a real browser.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openBrowser, skip, visit } from '../../../tests/support/web/browser.ts';
import { sharedService } from './test/shared.ts';

describe('the reference in a browser', { skip }, () => {
  it('opens on its introduction, under its own title and icon, and loads nothing from elsewhere', async () => {
    const service = await sharedService();
    await using browser = await openBrowser();
    await using page = await visit(browser, `${service.base}/reference/`);
    await page.getByRole('heading', { name: 'Strata Stack Intelligence' }).waitFor();
    await page.getByText('Streams').first().waitFor();
    assert.equal(await page.title(), 'Strata API reference');
    assert.equal(await page.locator('link[rel~=icon]').first().getAttribute('href'), '/favicon.svg');
    assert.equal(await page.getByRole('navigation').getByText('Health check').count(), 0);
  });
});
