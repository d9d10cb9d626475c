// The frame of the explorer's pages: keyboard, print, lost connections, and answers that are old or yet to come.
import assert from 'node:assert/strict';
import { assertAccessible, assertReceiptHolds, hold, PHONE, picture, settled } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('the frame', ({ demo, inPage }) => {
  inPage('takes the focus from nobody who types while the page comes', '/start', async (page) => {
    await page.evaluate(() => {
      document.querySelector<HTMLElement>('.ways a[href="/market"]')?.click();
      document.getElementById('search')?.focus();
    });
    await page.waitForURL('**/market');
    await settled(page);
    await page.keyboard.type('clou');
    assert.equal(await page.getByRole('combobox', { name: 'Search domains and providers' }).inputValue(), 'clou');
  });
  inPage('marks one page as the one that is open, wherever one is', { path: '/', allowed: [404] }, async (page) => {
    for (const [path, name] of [
      ['/', 'Home'],
      ['/start', 'Get started'],
      ['/market?category=dns', 'Market'],
      ['/feeds/example.com', 'Feeds'],
      ['/search?state=active&offset=50', 'Search'],
      ['/domain/example.com', undefined],
    ] as const) {
      await page.goto(demo().stack + path);
      await settled(page);
      const marked = page.locator('.top [aria-current], .ways [aria-current]');
      assert.deepEqual(await marked.allInnerTexts(), name === undefined ? [] : [name], path);
      assert.equal(await page.locator('.pager [aria-current]').count(), 0, path);
    }
  });
  inPage('shows the keys, and lets them be turned off for good', '/start', async (page) => {
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard' });
    await dialog.waitFor();
    await assertAccessible(page);
    await picture(page, 'keyboard');
    await dialog.getByLabel('Keys of one letter').uncheck();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.reload();
    await settled(page);
    for (const key of ['/', '?', 'g', 't']) await page.keyboard.press(key);
    assert.equal(new URL(page.url()).pathname, '/start');
    assert.equal(await page.evaluate(() => document.activeElement?.id), '');
    assert.equal(await dialog.count(), 0);
    await page.getByRole('button', { name: 'Keyboard' }).click();
    await dialog.getByLabel('Keys of one letter').check();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.waitForURL('**/market');
  });
  inPage('closes the menu of a phone with Escape', { path: '/start', ...PHONE }, async (page) => {
    const menu = page.getByRole('button', { name: 'Menu' });
    const market = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Market' });
    await menu.click();
    assert.equal(await market.isVisible(), true);
    await page.keyboard.press('Escape');
    assert.equal(await market.isVisible(), false);
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
    const shown = page.getByRole('region', { name: 'Domains found' }).locator('tbody tr[aria-rowindex]');
    await shown.first().waitFor();
    assert.ok((await shown.count()) < 100, 'only the rows in sight are in the page');
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
  inPage('says so at once, keeps what is open, and asks again when it is back', '/status', async (page) => {
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
  inPage('asks again for what is open alone', '/search?state=active', async (page) => {
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
  inPage('asks a silent service ever less', { path: '/search?state=active', allowed: [503] }, async (page) => {
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

describePages('answers', ({ demo, inPage }) => {
  inPage('to the question before are shown as old until the next is there', '/search?state=active', async (page) => {
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
    await page.getByText('51 to').first().waitFor();
    assert.match(await called(), /offset=50/);
  });
  inPage('have a verdict of their own: none stays under the next', '/search?state=active', async (page) => {
    const card = page.getByRole('region', { name: 'Domains', exact: true });
    await assertReceiptHolds(card, 'API and receipt');
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await page.getByText('51 to').first().waitFor();
    assert.equal(await card.getByText('The receipt holds').count(), 0);
    // A check that ends after its answer has gone tells of nothing that is shown.
    const release = await hold(page, '**/.well-known/stack-keys.json');
    await card.getByRole('button', { name: 'Verify' }).click();
    await page.getByRole('link', { name: 'Previous', exact: true }).click();
    await page.getByText(/^1 to/).first().waitFor();
    const answered = page.waitForResponse('**/.well-known/stack-keys.json');
    release();
    await answered;
    await page.waitForLoadState('networkidle');
    assert.equal(await card.locator('.verdict').count(), 0);
  });
  inPage('that may still come are asked for once', { path: '/status', allowed: [404] }, async (page) => {
    const domain = 'first-look.example';
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
