// The frame of the explorer: keyboard, print, lost connections, and stale or pending answers.

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { casesOf } from '../../support/vectors.ts';
import { assertAccessible, assertReceiptHolds, hold, PHONE, picture, settled } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('the frame', ({ demo, inPage }) => {
  inPage('keeps the focus in a field while a page loads', '/start', async (page) => {
    await page.evaluate(() => {
      document.querySelector<HTMLElement>('.navigation a[href="/market"]')?.click();
      document.getElementById('search')?.focus();
    });
    await page.waitForURL('**/market');
    await settled(page);
    await page.keyboard.type('clou');
    assert.equal(await page.getByRole('combobox', { name: 'Search domains and providers' }).inputValue(), 'clou');
  });
  inPage('marks at most one page as current', { path: '/', allowed: [404] }, async (page) => {
    for (const [path, name] of casesOf<[string, string?][]>('web', 'current pages')) {
      await page.goto(demo().stack + path);
      await settled(page);
      const marked = page.locator('.top [aria-current], .navigation [aria-current]');
      assert.deepEqual(await marked.allInnerTexts(), name === undefined ? [] : [name], path);
      assert.equal(await page.locator('.pager [aria-current]').count(), 0, path);
    }
  });
  inPage('shows the keyboard shortcuts, which can be disabled permanently', '/start', async (page) => {
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard' });
    await dialog.waitFor();
    await assertAccessible(page);
    await picture(page, 'keyboard');
    await dialog.getByLabel('Enable shortcuts').uncheck();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.reload();
    await settled(page);
    for (const key of ['/', '?', 'g', 't']) await page.keyboard.press(key);
    assert.equal(new URL(page.url()).pathname, '/start');
    assert.equal(await page.evaluate(() => document.activeElement?.id), '');
    assert.equal(await dialog.count(), 0);
    await page.getByRole('button', { name: 'Keyboard' }).click();
    await dialog.getByLabel('Enable shortcuts').check();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.waitForURL('**/market');
  });
  inPage('closes the menu of a phone with Escape', { path: '/start', ...PHONE }, async (page) => {
    const menu = page.getByRole('button', { name: 'Menu' });
    const market = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Market' });
    await menu.click();
    await market.waitFor();
    await page.keyboard.press('Escape');
    await market.waitFor({ state: 'hidden' });
    assert.equal(await menu.evaluate((element) => element === document.activeElement), true);
  });
  inPage('prints all rows of a long table, in dark ink', { path: '/status', colorScheme: 'dark' }, async (page) => {
    const rows = Array.from({ length: 400 }, (_, i) => `domain-${i}.example`);
    await page.route('**/stack/v1/search?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { total: number; results: { domain: string }[] };
      const [first] = body.results;
      const results = rows.map((domain) => ({ ...first, domain }));
      await route.fulfill({ response, json: { ...body, total: results.length, results } });
    });
    await page.goto(`${demo().stack}/search?state=active`);
    const shown = page.getByRole('region', { name: 'Search results' }).locator('tbody tr[aria-rowindex]');
    await shown.first().waitFor();
    assert.ok((await shown.count()) < 100, 'only visible rows are rendered');
    await page.emulateMedia({ media: 'print' });
    await page.waitForFunction(() => document.querySelectorAll('tbody tr[aria-rowindex]').length === 400);
    assert.equal(await page.locator('.top').isVisible(), false);
    assert.equal(await page.getByRole('form', { name: 'Filters' }).count(), 0);
    const ink = await page.evaluate(() => getComputedStyle(document.body).color);
    assert.equal(ink, 'rgb(22, 25, 29)');
    await page.emulateMedia({ media: 'screen' });
    await page.waitForFunction(() => document.querySelectorAll('tbody tr[aria-rowindex]').length < 100);
  });
});

describePages('without a connection a page', ({ inPage }) => {
  inPage('reports it immediately, keeps loaded data, and retries when it is back', '/status', async (page) => {
    const shown = await page.getByRole('region', { name: 'Ledger' }).innerText();
    await page.context().setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await picture(page, 'offline');
    assert.equal(await page.getByRole('region', { name: 'Ledger' }).innerText(), shown);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Home' }).click();
    await page.getByText('This page could not be loaded').waitFor();
    assert.equal(await page.locator('.skeleton').count(), 0);
    await page.context().setOffline(false);
    await page.getByRole('region', { name: 'Overview' }).locator('a').first().waitFor();
    assert.equal(await page.getByText('You are offline.').count(), 0);
  });
  inPage('retries only requests of the open page', '/search?state=active', async (page) => {
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
    const found = asked.map((query) => new URLSearchParams(query).get('state'));
    assert.deepEqual(found, ['nonexistent']);
  });
  inPage('polls a lost service with backoff', { path: '/search?state=active', allowed: [503] }, async (page) => {
    let asked = 0;
    await page.route('**/health', (route) => {
      asked += 1;
      return route.abort('connectionrefused');
    });
    await page.route('**/stack/v1/search*', (route) => route.abort('connectionrefused'));
    await page.getByRole('form', { name: 'Filters' }).getByRole('button', { name: 'Clear' }).click();
    await page.getByText('The service does not respond.').waitFor({ timeout: 20_000 });
    await page.unroute('**/stack/v1/search*');
    await page.unroute('**/health');
    const rows = page.getByRole('region', { name: 'Domains', exact: true }).locator('tbody tr');
    await rows.first().waitFor({ timeout: 40_000 });
    assert.ok(asked <= 4, `asked ${asked} times`);
  });
});

const from51 = (page: Page) => page.getByText(/^51 to/).first();

describePages('answers', ({ demo, inPage }) => {
  inPage('to the previous request are stale until the next one arrives', '/search?state=active', async (page) => {
    const release = await hold(page, '**/stack/v1/search?*');
    const card = page.getByRole('region', { name: 'Domains', exact: true });
    const called = () => card.locator('.command pre').last().innerText();
    await card.getByText('API and receipt').click();
    const before = await called();
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await card.locator('.answer.stale[aria-busy=true]').waitFor();
    // The receipt and the API call still belong to the displayed rows.
    assert.equal(await called(), before);
    release();
    await card.locator('.answer:not(.stale)').waitFor();
    await from51(page).waitFor();
    assert.match(await called(), /offset=50/);
  });
  inPage('do not inherit the verification result of the previous answer', '/search?state=active', async (page) => {
    const card = page.getByRole('region', { name: 'Domains', exact: true });
    await assertReceiptHolds(card, 'API and receipt');
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await from51(page).waitFor();
    assert.equal(await card.getByText('The receipt is valid').count(), 0);
    // A verification that ends after its answer was replaced is not shown.
    const release = await hold(page, '**/.well-known/stack-keys.json');
    await card.getByRole('button', { name: 'Verify' }).click();
    await page.getByRole('link', { name: 'Previous', exact: true }).click();
    await page.getByText(/^1 to/).first().waitFor();
    const answered = page.waitForResponse('**/.well-known/stack-keys.json');
    release();
    await answered;
    await settled(page);
    assert.equal(await card.locator('.verdict').count(), 0);
  });
  inPage('of a pending first scan are retried once', { path: '/status', allowed: [404] }, async (page) => {
    const domain = 'first-scan.example';
    let asked = 0;
    let isKnown = false;
    await page.route(`**/stack/v1/domains/${domain}`, (route) => {
      asked += 1;
      const problem = { title: 'Not analyzed', status: 404, detail: 'It is being scanned.', code: 'unknown_domain' };
      return route.fulfill({ status: 404, headers: { 'retry-after': '1' }, json: problem });
    });
    await page.clock.install();
    const polls: string[] = [];
    await page.route('**/suggest?*', (route) => {
      polls.push(route.request().url());
      return route.fulfill({ json: { domains: isKnown ? [domain] : [], providers: [] } });
    });
    await page.goto(`${demo().stack}/domain/${domain}`);
    await page.getByRole('heading', { name: 'The first scan of this domain is in progress' }).waitFor();
    await page.waitForRequest('**/suggest?*');
    await page.waitForRequest('**/suggest?*');
    assert.equal(asked, 1);
    isKnown = true;
    await page.getByRole('heading', { name: 'No result yet' }).waitFor();
    assert.equal(asked, 2);
    const count = polls.length;
    await page.clock.runFor(60_000);
    assert.deepEqual([asked, polls.length], [2, count]);
  });
});
