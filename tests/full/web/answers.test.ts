// What stands in an answer's place: the one before, none for want of a connection, or one that may still come.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertReceiptHolds, hold, picture, settled, shows } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('answers', ({ demo, open }) => {
  describe('without a connection', () => {
    it('says so at once, keeps what is open, and asks again when it is back', async () => {
      await using page = await open('/status');
      await settled(page);
      const shown = await page.getByRole('region', { name: 'Ledger' }).innerText();
      await page.context().setOffline(true);
      await page.getByText('You are offline.').waitFor();
      await picture(page, 'offline');
      assert.equal(await page.getByRole('region', { name: 'Ledger' }).innerText(), shown);
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Home' }).click();
      await page.getByText('This page could not be loaded').waitFor();
      assert.equal(await page.locator('.skeleton').count(), 0);
      await page.context().setOffline(false);
      await page.getByRole('region', { name: 'In figures' }).locator('a').first().waitFor();
      assert.equal(await page.getByText('You are offline.').count(), 0);
    });

    it('asks again for what is open alone', async () => {
      await using page = await open('/search?state=active');
      await settled(page);
      await page.context().setOffline(true);
      for (const state of ['parked', 'nonexistent']) {
        await page.getByLabel('State').selectOption(state);
        await page.getByRole('form', { name: 'Filters' }).getByRole('button', { name: 'Search' }).click();
        await page.waitForURL(`**/search?state=${state}`);
        await page.getByRole('heading', { name: 'The service cannot be reached' }).waitFor();
      }
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/stack/v1/')) asked.push(new URL(request.url()).search);
      });
      await page.context().setOffline(false);
      await page.getByText('You are offline.').waitFor({ state: 'detached' });
      await settled(page);
      assert.deepEqual(asked, ['?state=nonexistent&limit=50']);
    });

    it('asks a service that is silent again, and less often each time', async () => {
      await using page = await open('/search?state=active', { allowed: [503] });
      await settled(page);
      let asked = 0;
      await page.route('**/health', (route) => {
        asked += 1;
        return route.abort('connectionrefused');
      });
      await page.route('**/stack/v1/search*', (route) => route.abort('connectionrefused'));
      await page.getByRole('form', { name: 'Filters' }).getByRole('button', { name: 'Clear' }).click();
      await page.getByText('The service does not answer.').waitFor({ timeout: 20_000 });
      await page.unroute('**/stack/v1/search*');
      await page.unroute('**/health');
      const rows = page.getByRole('region', { name: 'Domains', exact: true }).locator('tbody tr');
      await rows.first().waitFor({ timeout: 40_000 });
      assert.ok(asked <= 4, `asked ${asked} times`);
    });
  });

  describe('answers', () => {
    it('to the question before are shown as old ones until the next is there', async () => {
      await using page = await open('/search?state=active');
      await settled(page);
      const release = await hold(page, '**/stack/v1/search?*');
      const card = page.getByRole('region', { name: 'Domains', exact: true });
      const called = () => card.locator('.command pre').first().innerText();
      await card.getByText('API and receipt').click();
      const before = await called();
      await page.getByRole('link', { name: 'Next', exact: true }).click();
      await card.locator('.answer.old[aria-busy=true]').waitFor();
      // The receipt and the call are still those of the rows that are shown.
      assert.equal(await called(), before);
      release();
      await card.locator('.answer:not(.old)').waitFor();
      await shows(page, /^51 to/);
      assert.match(await called(), /offset=50/);
    });

    it('have a verdict of their own: none stays under the next', async () => {
      await using page = await open('/search?state=active');
      const card = page.getByRole('region', { name: 'Domains', exact: true });
      await assertReceiptHolds(card, 'API and receipt');
      await page.getByRole('link', { name: 'Next', exact: true }).click();
      await shows(page, /^51 to/);
      assert.equal(await card.getByText('The receipt holds').count(), 0);
      // A check that ends after its answer has gone tells of nothing that is shown.
      const release = await hold(page, '**/.well-known/stack-keys.json');
      await card.getByRole('button', { name: 'Verify' }).click();
      await page.getByRole('link', { name: 'Previous', exact: true }).click();
      await shows(page, /^1 to/);
      const answered = page.waitForResponse('**/.well-known/stack-keys.json');
      release();
      await answered;
      await page.waitForLoadState('networkidle');
      assert.equal(await card.locator('.verdict').count(), 0);
    });

    it('that may still come are waited for without a request of the day, and asked for once', async () => {
      const domain = 'first-look.example';
      await using page = await open('/status', { allowed: [404] });
      let asked = 0;
      let isKnown = false;
      await page.route(`**/stack/v1/domains/${domain}`, (route) => {
        asked += 1;
        const problem = { title: 'Not analyzed', status: 404, detail: 'It is being scanned.', code: 'unknown_domain' };
        return route.fulfill({ status: 404, headers: { 'retry-after': '1' }, json: problem });
      });
      await page.clock.install();
      const looks: string[] = [];
      await page.route('**/suggest?*', (route) => {
        looks.push(route.request().url());
        return route.fulfill({ json: { domains: isKnown ? [domain] : [], providers: [] } });
      });
      await page.goto(`${demo().stack}/domain/${domain}`);
      await page.getByRole('heading', { name: 'The first look at this domain goes on' }).waitFor();
      await page.waitForRequest('**/suggest?*');
      await page.waitForRequest('**/suggest?*');
      assert.equal(asked, 1);
      isKnown = true;
      await page.getByRole('heading', { name: 'No answer yet' }).waitFor();
      assert.equal(asked, 2);
      const count = looks.length;
      await page.clock.runFor(60_000);
      assert.deepEqual([asked, looks.length], [2, count]);
    });
  });
});
