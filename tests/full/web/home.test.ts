// The first page, getting started and the search: what a newcomer does in the first minutes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import { settled, shows } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('home', ({ answer, demo, open }) => {
  const field = (page: Page) => page.getByRole('combobox', { name: 'Search domains and providers' });
  const options = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
  const keyOf = (page: Page) => page.evaluate(() => localStorage.getItem('strata-stack-key'));

  it('leads to a domain by the keyboard alone', async () => {
    const { example_domain: domain } = await answer<{ readonly example_domain: string }>('/site.json');
    await using page = await open('/');
    await settled(page);
    await page.keyboard.press('/');
    await page.keyboard.type(domain.slice(0, -2), { delay: 20 });
    await options(page).filter({ hasText: domain }).waitFor();
    assert.equal(await field(page).getAttribute('aria-expanded'), 'true');
    for (let i = 0; i < 20; i += 1) {
      await page.keyboard.press('ArrowDown');
      const chosen = (await field(page).getAttribute('aria-activedescendant')) ?? '';
      const option = page.locator(`[id="${chosen}"]`);
      assert.equal(await option.getAttribute('aria-selected'), 'true');
      if ((await option.textContent())?.includes(domain)) break;
    }
    assert.equal(await field(page).evaluate((element) => element === document.activeElement), true);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/domain/${domain}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });

  it('takes Enter for what the text is: a domain, an address, a provider, or else a search', async () => {
    await using page = await open('/start', { allowed: [404] });
    await settled(page);
    for (const [text, url] of [
      ['Example.COM', '/domain/example.com'],
      ['https://shop.example.com/a?b#c', '/domain/shop.example.com'],
      ['Cloudflare', '/provider/cloudflare'],
      ['no such thing', '/search?q=no+such+thing'],
    ] as const) {
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      if (text === 'Cloudflare') await options(page).filter({ hasText: 'Provider' }).first().waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL((to) => to.pathname + to.search === url);
      await field(page).waitFor();
    }
  });

  it('closes the suggestions with Escape, goes round with the arrows, and follows the pointer', async () => {
    await using page = await open('/', { key: undefined });
    await settled(page);
    await page.keyboard.press('/');
    await page.keyboard.type('clou');
    await options(page).first().waitFor();
    await page.keyboard.press('ArrowUp');
    assert.equal(await options(page).last().getAttribute('aria-selected'), 'true');
    assert.equal(await options(page).last().textContent(), 'Search for “clou”');
    await page.keyboard.press('ArrowDown');
    assert.equal(await field(page).getAttribute('aria-activedescendant'), null);
    await page.keyboard.press('Escape');
    assert.equal(await options(page).count(), 0);
    assert.equal(await field(page).inputValue(), 'clou');
    await page.keyboard.press('ArrowDown');
    await options(page).filter({ hasText: 'Cloudflare' }).first().click();
    await page.waitForURL('**/provider/cloudflare');
  });

  it('says when the day of a key is used up, and until when', async () => {
    await using page = await open('/', { key: 'ssk_used-up', allowed: [429] });
    await page.route('**/stack/v1/**', (route) =>
      route.fulfill({
        status: 429,
        headers: {
          ...{ 'content-type': 'application/problem+json; charset=utf-8', 'retry-after': '3600' },
          ...{ 'x-ratelimit-limit': '50', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3600' },
        },
        body: JSON.stringify({
          ...{ type: '/problems/quota_exceeded', title: 'The quota is used up', status: 429, code: 'quota_exceeded' },
          ...{ detail: 'The 50 requests of this day are used up.', request_id: '5a0c3d52-7c3c-4a52-9c6c-000000000000' },
        }),
      }),
    );
    await page.reload();
    const notice = page.getByRole('alert').filter({ hasText: 'used up' }).first();
    await notice.waitFor();
    assert.match((await notice.textContent()) ?? '', /new ones from .*\d{4}/);
    await page.getByText(/^0 left/).waitFor();
    await page.getByRole('link', { name: /^0 left/ }).click();
    await page.getByRole('region', { name: '1. Your key' }).waitFor();
    const figures = await page.locator('.figure-value').allTextContents();
    assert.deepEqual(figures.slice(0, 2), ['0', '50']);
  });

  it('gives commands that work as they stand', async () => {
    const shownKey = demo().stackKey;
    await using page = await open('/start');
    await settled(page);
    await page.getByText('Complete commands, with your key').waitFor();
    const commands = await page.getByRole('region', { name: '2. First requests' }).locator('pre').allTextContents();
    assert.equal(commands.length, 7);
    for (const command of commands) {
      const [, sent, url = ''] =
        /^curl (?:-[A-Za-z] (?:[\w.]+ )?)*?-H 'X-Stack-Key: ([^']+)' '([^']+)'$/.exec(command) ?? [];
      assert.equal(sent, shownKey, command);
      const stop = new AbortController();
      const { status } = await fetch(url, { headers: { 'x-stack-key': shownKey }, signal: stop.signal });
      stop.abort();
      assert.equal(status, 200, command);
    }
    await page.getByRole('button', { name: 'Copy the key' }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shownKey);
    await page.getByRole('button', { name: 'Forget this key' }).click();
    assert.equal(await keyOf(page), shownKey);
    await page.getByRole('button', { name: 'Forget it for good' }).click();
    await page.getByRole('button', { name: 'Get a free key' }).waitFor();
    assert.equal(await keyOf(page), null);
  });

  it('searches with every filter in the address, page by page', async () => {
    await using page = await open('/search');
    await settled(page);
    /** What the page was answered: the demo lives on, and a second answer may be another. */
    const answerTo = async (act: () => Promise<unknown>) => {
      const answered = page.waitForResponse((each) => each.url().includes('/stack/v1/search?'));
      await act();
      return (await (await answered).json()) as { total: number; results: { domain: string }[] };
    };
    const shown = () => page.locator('tbody tr td:first-child').allTextContents();
    await page.getByLabel('State').selectOption('active');
    await page.getByLabel('Category').selectOption('dns');
    const search = page.getByRole('form', { name: 'Filters' }).getByRole('button', { name: 'Search' });
    const first = await answerTo(() => search.click());
    await page.waitForURL('**/search?category=dns&state=active');
    await settled(page);
    assert.ok(first.total > 50, `${first.total} domains`);
    const namesIn = ({ results }: { readonly results: { domain: string }[] }) => results.map(({ domain }) => domain);
    assert.deepEqual(await shown(), namesIn(first));
    const second = await answerTo(() => page.getByRole('link', { name: 'Next', exact: true }).click());
    await page.waitForURL(/offset=50/);
    await shows(page, /^51 to/);
    assert.deepEqual(await shown(), namesIn(second));
    await page.reload();
    await shows(page, /^51 to/);
    assert.equal(await page.getByLabel('State').inputValue(), 'active');
    await page.getByRole('link', { name: 'Previous', exact: true }).click();
    await shows(page, /^1 to 50 of/);
  });
});
