// The frame of the explorer's pages: the way by keyboard, where one is, on paper, and that these tests see what goes wrong.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertAccessible, assertLooks, picture, settled } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('frame', ({ browser, demo, open }) => {
  describe('the tests themselves', () => {
    it('take an empty page for none', async () => {
      await assert.rejects(assertLooks(browser(), 'data:text/html,<title>Empty</title>', 'empty'), /headings/);
      const bare = 'data:text/html,<title>Bare</title><h1>Bare</h1><main>Little</main>';
      await assert.rejects(assertLooks(browser(), bare, 'bare'), /shows nothing but/);
    });

    it('fail when the policy is violated, though nobody asks', async () => {
      const page = await open('/start');
      await page.evaluate(() => document.body.setAttribute('style', 'color: red'));
      await page.evaluate(() => {
        const script = document.createElement('script');
        script.textContent = 'window.wasRun = true';
        document.body.append(script);
      });
      await page.waitForTimeout(100);
      assert.equal(await page.evaluate(() => 'wasRun' in window), false);
      await assert.rejects(async () => await page[Symbol.asyncDispose](), /policy violated: script-src/);
    });
  });

  describe('the frame', () => {
    it('takes the focus from nobody who types while the page comes', async () => {
      await using page = await open('/start');
      await settled(page);
      await page.evaluate(() => {
        document.querySelector<HTMLElement>('.ways a[href="/market"]')?.click();
        document.getElementById('search')?.focus();
      });
      await page.waitForURL('**/market');
      await settled(page);
      await page.keyboard.type('clou');
      assert.equal(await page.getByRole('combobox', { name: 'Search domains and providers' }).inputValue(), 'clou');
    });

    it('marks one page as the one that is open, wherever one is', async () => {
      await using page = await open('/', { allowed: [404] });
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

    it('shows the keys, and lets them be turned off for good', async () => {
      await using page = await open('/start');
      await settled(page);
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

    it('closes the menu of a phone with Escape', async () => {
      await using page = await open('/start', { width: 390, height: 844 });
      await settled(page);
      const menu = page.getByRole('button', { name: 'Menu' });
      const market = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Market' });
      await menu.click();
      assert.equal(await market.isVisible(), true);
      await page.keyboard.press('Escape');
      assert.equal(await market.isVisible(), false);
      assert.equal(await menu.evaluate((element) => element === document.activeElement), true);
    });
  });

  it('prints all rows of a long table, in dark ink', async () => {
    await using page = await open('/status', { colorScheme: 'dark' });
    await settled(page);
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
