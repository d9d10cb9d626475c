// The search and the pages of lists: what was asked stays asked, and every page has its way back.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, hold, settled } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('search', ({ demo, open }) => {
  describe('the filters of the search', () => {
    it('keep the conditions that have no field, and the focus', async () => {
      await using page = await open('/search?state=live&flag=spf_measured&without=spf_valid&min_confidence=medium');
      await settled(page);
      await page.getByLabel('Part of the name').fill('a');
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => url.searchParams.get('q') === 'a');
      const kept = { state: 'live', flag: 'spf_measured', without: 'spf_valid', min_confidence: 'medium', q: 'a' };
      assert.deepEqual(asked(page), kept);
      await settled(page);
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'q');
      // One confidence goes before the least one, which would then say what is not so.
      await page.getByLabel('Confidence').selectOption('low');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.waitForURL((url) => url.searchParams.get('confidence') === 'low');
      assert.equal(asked(page).min_confidence, undefined);
      assert.equal(await page.getByText('at least medium confidence').count(), 0);
      await page.getByRole('link', { name: 'Take off' }).press('Enter');
      await page.waitForURL((url) => !url.searchParams.has('without'));
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'content');
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.waitForURL((url) => url.search === '');
      assert.equal(await page.getByLabel('Part of the name').inputValue(), '');
      assert.equal(await chosen(page, 'State'), 'Any');
    });

    it('say in words what a followed number asks for', async () => {
      await using page = await open('/search?state=live&flag=spf_valid,dmarc_valid&without=dnssec,caa');
      await settled(page);
      assert.equal(await chosen(page, 'State'), 'Active or parked');
      assert.equal(await chosen(page, 'Posture'), 'SPF: valid and DMARC: valid');
      const without = 'without DNSSEC: zone is signed, CAA: says who may issue certificates';
      assert.equal(await page.getByText(without, { exact: true }).first().isVisible(), true);
      await assertAccessible(page);
    });

    it('name the provider that nobody knows, whichever of the two it is', async () => {
      await using page = await open('/search?with=cloudflair');
      await page.getByText('No provider is called “cloudflair”.').waitFor();
      await page.getByRole('list').getByRole('link', { name: 'Cloudflare', exact: true }).click();
      await page.waitForURL((url) => url.searchParams.get('with') === 'Cloudflare');
      assert.deepEqual(asked(page), { with: 'Cloudflare' });
    });
  });

  describe('the pages of a list', () => {
    it('mark none of their ways as the page one is on, and lead back from beyond the end', async () => {
      await using page = await open('/status');
      // Shorter pages than the demo has migrations.
      await page.route('**/stack/v1/stats/migrations**', (route) =>
        route.continue({ url: route.request().url().replace('limit=100', 'limit=10') }),
      );
      for (const days of ['all', '60']) {
        await page.goto(`${demo().stack}/migrations?days=${days}&offset=10`);
        await page.getByText(/^11 to 20/).waitFor();
        assert.equal(await page.locator('.pager a').count(), 2);
        assert.equal(await page.locator('.pager [aria-current]').count(), 0, days);
        await page.goto(`${demo().stack}/migrations?days=${days}&offset=90000`);
        await page.getByText('The list ends before this page.').waitFor();
        assert.doesNotMatch(await page.locator('.pager').innerText(), /90|to/);
        await page.getByRole('link', { name: 'Previous' }).click();
        await page.waitForURL((url) => !url.search.includes('90000'));
        if (days === '60') await page.getByRole('region', { name: 'Migrations', exact: true }).waitFor();
      }
    });

    it('stand in for no other list', async () => {
      await using page = await open('/status');
      const shorter = '**/stack/v1/stats/migrations**';
      await page.route(shorter, (route) =>
        route.continue({ url: route.request().url().replace('limit=100', 'limit=10') }),
      );
      await page.goto(`${demo().stack}/migrations?category=dns&offset=10`);
      await page.getByText(/^11 to 20/).waitFor();
      const release = await hold(page, shorter);
      // As a link of the reader's own, or the back button, has it: another question, and not its first page.
      await page.evaluate(() => {
        history.pushState({}, '', '/migrations?category=email&offset=10');
        dispatchEvent(new PopStateEvent('popstate'));
      });
      await page.getByText('Loading …').first().waitFor();
      assert.equal(await page.getByRole('heading', { name: /migrations? within/ }).count(), 0);
      release();
      await page.getByRole('heading', { name: /migrations? within/ }).waitFor();
    });
  });
});

const asked = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

const chosen = (page: Page, label: string) =>
  page.getByLabel(label, { exact: true }).evaluate((select) => (select as HTMLSelectElement).selectedOptions[0]?.text);
