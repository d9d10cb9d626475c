// First steps of a new user: home page, API key, getting started, search, and paginated lists.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { casesOf } from '../../support/vectors.ts';
import { answerDuring, assertAccessible, assertReceiptHolds, hold, PHONE, settled } from '../../support/web/browser.ts';
import { describePages, parametersAre } from '../../support/web/demo.ts';

const chosen = (page: Page, label: string) =>
  page.getByLabel(label, { exact: true }).evaluate((select) => (select as HTMLSelectElement).selectedOptions[0]?.text);

describePages('home', ({ answer, demo, inPage }) => {
  for (const [name, size] of [['wide', {}] as const, ['phone', PHONE] as const])
    inPage(`leads to the chat by clicks only, ${name}`, { path: '/', key: undefined, ...size }, async (page) => {
      const stored = (of: string) => page.evaluate((key) => localStorage.getItem(key), of);
      const openPage = async (title: string) => {
        const menu = page.getByRole('button', { name: 'Menu' });
        if (await menu.isVisible()) await menu.click();
        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title, exact: true }).click();
      };

      // A key, and a valid receipt.
      await page.getByRole('button', { name: 'Get a free key' }).click();
      await page.getByText('of 100 points').waitFor();
      assert.match((await stored('strata-stack-key')) ?? '', /^ssk_/);
      await page.getByRole('button', { name: 'Verify' }).first().click();
      await page.getByText('The receipt is valid').waitFor();

      // A domain's history.
      await page.getByRole('link', { name: 'Evidence and history' }).click();
      await page.waitForURL(/\/domain\//);
      await settled(page);
      const toHistory = page.getByRole('link', { name: /History/ });
      await toHistory.first().click();
      // The example may not have migrated yet; tests/full/web/domain.test.ts uses a domain that has.
      await page.getByRole('region', { name: 'History' }).waitFor();

      // The lost customers of a provider.
      await openPage('Migrations');
      await page.waitForURL(/\/migrations/);
      await settled(page);
      await page.locator('main a[href^="/provider/"]:visible').first().click();
      await page.waitForURL(/\/provider\//);
      await page.getByRole('link', { name: 'Lost customers' }).first().click();
      await page.getByRole('heading', { name: /^\d[\d,]* domains? lost since/ }).waitFor();
      const row = page.getByRole('row').nth(1);
      await row.locator('a[href^="/domain/"]').first().waitFor();
      assert.match((await row.textContent()) ?? '', /\w/);

      // “Get started” links to the chat and explains its separate key.
      await openPage('Get started');
      const card = page.getByRole('region', { name: '4. Chat' });
      assert.equal(await card.getByRole('link').getAttribute('href'), demo().inference);
      assert.match((await card.textContent()) ?? '', /separate API keys[\s\S]*\/keys[\s\S]*\/v1/);
      await card.scrollIntoViewIfNeeded();

      // An answer in the chat, with a key of the other service.
      const chat = page.getByRole('banner').getByRole('link', { name: 'Chat', exact: true });
      if (await chat.isVisible()) await chat.click();
      else await openPage('Chat');
      await page.waitForURL((url) => url.origin === new URL(demo().inference).origin);
      await page.getByRole('button', { name: 'Get a free key' }).click();
      await page.getByRole('button', { name: 'What is DMARC?' }).click();
      await page.locator('.chat-answer[data-state="whole"]').waitFor({ timeout: 30_000 });
      assert.match((await stored('strata-inference-key')) ?? '', /^sk-/);
      // The text of the small model is random.
      assert.match((await page.locator('.chat-answer').first().textContent()) ?? '', /strata-tiny-chat · \d+ tokens?/);
      await assertAccessible(page);

      // And back.
      await page.getByRole('link', { name: 'Explorer', exact: true }).click();
      await page.waitForURL(`${demo().stack}/`);
    });

  const field = (page: Page) => page.getByRole('combobox', { name: 'Search domains and providers' });
  const options = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
  const keyOf = (page: Page) => page.evaluate(() => localStorage.getItem('strata-stack-key'));
  inPage('leads to a domain with the keyboard only', '/', async (page) => {
    const { example_domain: domain } = await answer<{ readonly example_domain: string }>('/site.json');
    await page.keyboard.press('/');
    await page.keyboard.type(domain.slice(0, -2), { delay: 20 });
    await options(page).filter({ hasText: domain }).waitFor();
    assert.equal(await field(page).getAttribute('aria-expanded'), 'true');
    for (let i = 0; i < 20; i += 1) {
      await page.keyboard.press('ArrowDown');
      // At once: the answer to the last letters may remove the suggestion. Null while the field itself is selected.
      const chosen = await field(page).evaluate((element) => {
        const option = document.getElementById(element.getAttribute('aria-activedescendant') ?? '');
        return option && { isSelected: option.ariaSelected, text: option.textContent };
      });
      if (chosen) assert.equal(chosen.isSelected, 'true');
      if (chosen?.text?.includes(domain)) break;
    }
    assert.equal(await field(page).evaluate((element) => element === document.activeElement), true);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/domain/${domain}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });
  inPage('interprets the text on Enter', { path: '/start', allowed: [400, 404] }, async (page) => {
    for (const [text, url] of casesOf<[string, string][]>('web', 'search box')) {
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      if (text === 'Cloudflare') await options(page).filter({ hasText: 'Provider' }).first().waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL((to) => to.pathname + to.search === url);
      await settled(page);
    }
    // Names contain no exclamation marks: the service rejects the text, and the page shows the error.
    await page.getByText('Cannot use: q (contains a character that is invalid in domain names).').waitFor();
    await page.goto(`${demo().stack}/search?q=oudflar`);
    await page.getByText('Providers with “oudflar” in their name').getByRole('link').first().click();
    await page.waitForURL('**/provider/cloudflare');
  });
  const pasting = { path: '/start', allowed: [404] };
  inPage('opens what was pasted last, also if suggestions are late or never come', pasting, async (page) => {
    const release = await hold(page, '**/suggest?q=first.example');
    await hold(page, '**/suggest?q=last.example');
    const paste = async (text: string) => {
      await field(page).fill(text);
      await page.keyboard.press('Enter');
    };
    await paste('first.example');
    await paste('Cloudflare');
    await page.waitForURL('**/provider/cloudflare');
    release();
    await settled(page);
    assert.equal(new URL(page.url()).pathname, '/provider/cloudflare');
    await paste('last.example');
    await page.waitForURL('**/domain/last.example');
  });
  const keyless = { path: '/', key: undefined, allowed: [401] };
  inPage('has suggestions with Escape, wrapping arrow keys and the mouse', keyless, async (page) => {
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

  const usedUp = { path: '/favicon.svg', key: 'ssk_used-up', allowed: [429] };
  inPage('shows when a used-up quota resets', usedUp, async (page) => {
    const quota = { 'x-ratelimit-limit': '50', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3600' };
    const json = { title: 'The quota is used up', status: 429, code: 'quota_exceeded', detail: 'All 50 are used up.' };
    await page.route('**/stack/v1/**', (route) =>
      route.fulfill({ status: 429, headers: { ...quota, 'retry-after': '3600' }, json }),
    );
    await page.goto(demo().stack);
    const notice = page.getByRole('alert').filter({ hasText: 'used up' }).first();
    await notice.waitFor();
    assert.match((await notice.textContent()) ?? '', /resets at .*\d{4}/);
    await page.getByText(/^0 left/).waitFor();
    await page.getByRole('link', { name: /^0 left/ }).click();
    await page.getByRole('region', { name: '1. Your API key' }).waitFor();
    const figures = await page.locator('.figure-value').allTextContents();
    assert.deepEqual(figures.slice(0, 2), ['0', '50']);
  });
  inPage('shows complete commands that work', '/start', async (page) => {
    const shownKey = demo().stackKey;
    await page.getByText('Complete commands with your API key').waitFor();
    // Until the page knows a domain of the demo.
    await page.locator('pre', { hasText: '/domains/example.com' }).first().waitFor({ state: 'detached' });
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
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.waitForFunction(async (key) => (await navigator.clipboard.readText()) === key, shownKey);
    await page.getByRole('button', { name: 'Remove key' }).click();
    assert.equal(await keyOf(page), shownKey);
    await page.getByRole('button', { name: 'Remove permanently' }).click();
    await page.getByRole('button', { name: 'Get a free key' }).waitFor();
    assert.equal(await keyOf(page), null);
  });
  inPage('keeps all search filters in the URL across pages', '/search', async (page) => {
    type Answer = { total: number; results: { domain: string }[] };
    const answerTo = (act: () => Promise<unknown>): Promise<Answer> => answerDuring(page, '/stack/v1/search?', act);
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
    await page.getByText('51 to').first().waitFor();
    assert.deepEqual(await shown(), namesIn(second));
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const [, ...rows] = readFileSync(await (await saving).path(), 'utf8')
      .trim()
      .split('\n');
    assert.ok(rows.length > 100 && rows.every((row) => row.split(',')[1] === 'active'), 'all rows, with the filters');
    await assertReceiptHolds(page.locator('.csv'));
    await page.reload();
    await page.getByText('51 to').first().waitFor();
    assert.equal(await page.getByLabel('State').inputValue(), 'active');
    await page.getByRole('link', { name: 'Previous', exact: true }).click();
    await page.getByText('1 to 50 of').first().waitFor();
  });
});

const REST = '/search?state=live&flag=spf_measured&without=spf_valid&min_confidence=medium';
const FOLLOWED = '/search?state=live&flag=spf_valid,dmarc_valid&without=dnssec,caa';
describePages('the filters of the search', ({ inPage }) => {
  inPage('keep conditions without a field, and the focus', REST, async (page) => {
    await page.getByLabel('Name contains').fill('a');
    await page.keyboard.press('Enter');
    const kept = { state: 'live', flag: 'spf_measured', without: 'spf_valid', min_confidence: 'medium', q: 'a' };
    await parametersAre(page, kept);
    await settled(page);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('name')), 'q');
    // An exact confidence replaces the minimum confidence.
    await page.getByLabel('Confidence').selectOption('low');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get('confidence') === 'low');
    await page.getByText('at least medium confidence').waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('min_confidence'), null);
    await page.getByRole('link', { name: 'Remove' }).press('Enter');
    await page.waitForURL((url) => !url.searchParams.has('without'));
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'content');
    await page.getByRole('button', { name: 'Clear' }).click();
    await parametersAre(page, {});
    await settled(page);
    assert.equal(await page.getByLabel('Name contains').inputValue(), '');
    assert.equal(await chosen(page, 'State'), 'Any');
  });
  inPage('show labels for the conditions of a link', FOLLOWED, async (page) => {
    assert.equal(await chosen(page, 'State'), 'Active or parked');
    assert.equal(await chosen(page, 'Posture'), 'SPF: valid and DMARC: valid');
    const without = 'without DNSSEC: signed, CAA: record published';
    assert.equal(await page.getByText(without, { exact: true }).first().isVisible(), true);
    await assertAccessible(page);
  });
  const unknown = { path: '/search?with=cloudflair', allowed: [400] };
  inPage('name the unknown provider in either parameter', unknown, async (page) => {
    await page.getByText('No provider named “cloudflair”.').waitFor();
    await assertAccessible(page);
    await page.getByRole('list').getByRole('link', { name: 'Cloudflare', exact: true }).click();
    await parametersAre(page, { with: 'Cloudflare' });
  });
});

describePages('the pages of a list', ({ demo, inPage }) => {
  const migrations = '**/stack/v1/stats/migrations**';
  /** Limits pages to fewer rows than the demo has migrations. */
  const shorten = (page: Page) =>
    page.route(migrations, (route) => route.continue({ url: route.request().url().replace('limit=100', 'limit=10') }));
  inPage('link back from past the end, and are not marked as current', '/status', async (page) => {
    await shorten(page);
    for (const days of ['all', '60']) {
      await page.goto(`${demo().stack}/migrations?days=${days}&offset=10`);
      await page.getByText(/^11 to 20/).waitFor();
      assert.equal(await page.locator('.pager a').count(), 2);
      assert.equal(await page.locator('.pager [aria-current]').count(), 0, days);
      await page.goto(`${demo().stack}/migrations?days=${days}&offset=90000`);
      await page.getByText('This page is past the end of the list.').waitFor();
      assert.doesNotMatch(await page.locator('.pager').innerText(), /90|to/);
      await page.getByRole('link', { name: 'Previous' }).click();
      await page.waitForURL((url) => !url.search.includes('90000'));
      if (days === '60') await page.getByRole('region', { name: 'Migrations', exact: true }).waitFor();
    }
  });
  inPage('are not shown for another list', '/status', async (page) => {
    await shorten(page);
    await page.goto(`${demo().stack}/migrations?category=dns&offset=10`);
    await page.getByText(/^11 to 20/).waitFor();
    const release = await hold(page, migrations);
    // A link or the back button can open another list at a later page.
    await page.evaluate(() => {
      history.pushState({}, '', '/migrations?category=email&offset=10');
      dispatchEvent(new PopStateEvent('popstate'));
    });
    await page.getByText('Loading …').first().waitFor();
    assert.equal(await page.getByRole('heading', { name: /^[\d,]+ migrations?/ }).count(), 0);
    release();
    await page.getByRole('heading', { name: /^[\d,]+ migrations?/ }).waitFor();
  });
});
