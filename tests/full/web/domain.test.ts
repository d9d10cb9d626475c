// The domain page and the comparison: history, posture, valid and invalid receipts, with mouse and keyboard.

import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { casesOf } from '../../support/vectors.ts';
import { assertAccessible, assertReceiptHolds, settled } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

interface Migration {
  readonly category: string;
  readonly domain: string;
  readonly from: string;
  readonly to: string;
  readonly from_id: string;
  readonly to_id: string;
}

/** Presses Tab until the focused element has this name. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? '');
    if (name.test(focused.trim())) return;
  }
  assert.fail(`Tab does not reach ${name}`);
}

describePages('the domain page', ({ answer, demo, inPage, named }) => {
  let migration: Migration;
  let domains: readonly string[];
  before(async () => {
    type Latest = { readonly migrations: readonly Migration[] };
    const { migrations } = await answer<Latest>('/stack/v1/stats/migrations?limit=1000');
    migration = migrations[0] as Migration;
    domains = [...new Set(migrations.map(({ domain }) => domain))].slice(0, 3);
    const { domain, from_id, to_id } = migration;
    Object.assign(named, { DOMAIN: domain, PAIR: domains.slice(0, 2).join(), PROVIDERS: `${from_id},${to_id}` });
  });
  inPage('shows the stack with evidence, and links to the history', '/domain/DOMAIN', async (page) => {
    await page.getByRole('heading', { level: 1, name: migration.domain }).waitFor();
    const stack = page.getByRole('region', { name: 'Stack', exact: true });
    await stack.locator('.domain-service summary').first().click();
    assert.notEqual(await stack.locator('.domain-evidence code').first().innerText(), '');
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'History' }).click();
    await page.waitForURL(/tab=history/);
    const history = page.getByRole('region', { name: 'History', exact: true });
    const moved = history.locator('.transition.migrated', { hasText: migration.from });
    await moved.filter({ hasText: migration.to }).first().waitFor();
    await history.getByLabel('Category').selectOption({ index: 1 });
    await page.waitForURL(/category=/);
    await settled(page);
    assert.ok((await history.locator('.transition').count()) > 0);
    await page.reload();
    await history.getByText(/\d+ of \d+ changes/).waitFor();
  });
  inPage('loads posture, risk, advisories and feeds when they are opened', '/domain/DOMAIN', async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.reload();
    await settled(page);
    const askedOf = (part: string) => asked.filter((path) => path.includes(part)).length;
    for (const [tab, card, part] of casesOf<[string, string, string][]>('web', 'tabs of a domain')) {
      if (part !== '') assert.equal(askedOf(part), 0, `${part} before it is opened`);
      await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: tab }).click();
      await page.getByRole('region', { name: card, exact: true }).waitFor();
      await settled(page);
      if (part !== '') assert.equal(askedOf(part), 1, `${part} once it is opened`);
    }
  });

  inPage('reports a modified answer and a conflicting log', '/status', async (page) => {
    const foot = page.getByRole('region', { name: 'Stack', exact: true }).locator('footer');
    const assertRefused = async (...messages: readonly string[]) => {
      await foot.getByRole('button', { name: 'Verify' }).click();
      for (const text of messages) await foot.getByText(text).waitFor();
      assert.equal(await foot.getByText('The receipt is valid').count(), 0);
      assert.equal(await foot.locator('.steps .bad').count(), 1);
    };
    await page.route(`**/stack/v1/domains/${migration.domain}`, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('"confidence":"high"', '"confidence":"low"');
      await route.fulfill({ response, body });
    });
    await page.goto(`${demo().stack}/domain/${migration.domain}`);
    await foot.locator('summary').click();
    await assertRefused('The receipt is invalid', 'does not match what was signed');
    await page.unrouteAll();
    await page.reload();
    await assertReceiptHolds(foot, 'API and receipt');
    for (const [size, message] of Object.entries({ 3: 'The log has two histories', 1e9: 'The log has lost entries' })) {
      // Simulates that this browser has stored a different tree of that size.
      await page.evaluate((size) => {
        const ledgers = localStorage.getItem('strata-stack-ledgers') ?? '';
        const known = `\\n${size}\\n${btoa('x'.repeat(32))}\\n\\n`;
        localStorage.setItem('strata-stack-ledgers', ledgers.replace(/\\n\d+\\n[^\\]+\\n\\n/, known));
      }, size);
      await assertRefused('The public log conflicts with earlier data', message);
    }
    await assertAccessible(page);
    await foot.getByRole('button', { name: 'Trust the current log' }).click();
    await foot.getByText('The receipt is valid').waitFor();
    await assertReceiptHolds(foot);
  });

  inPage('can be read, filtered and verified with the keyboard only', '/domain/DOMAIN', async (page) => {
    await tabTo(page, /^History$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/tab=history/);
    await settled(page);
    await tabTo(page, /^All/);
    await page.keyboard.press('ArrowDown');
    await page.waitForURL(/category=/);
    await settled(page);
    await tabTo(page, /^API and receipt/);
    await page.keyboard.press('Enter');
    await tabTo(page, /^Verify$/);
    await page.keyboard.press('Enter');
    await page.getByText('The receipt is valid').waitFor();
  });
  inPage('shows the registrable domain', '/domain/https%3A%2F%2Fwww.DOMAIN%2Fabout%3Fx%3D1', async (page) => {
    await page.getByText(`Showing ${migration.domain}, the registrable domain of`).waitFor();
  });
  inPage('explains that a name is not in the demo', { path: '/domain/google.com', allowed: [404] }, async (page) => {
    await page.getByRole('heading', { name: 'google.com is not in this demo' }).waitFor();
    await page.getByText('Demo on a simulated internet: all domains are invented.').waitFor();
    const example = page.getByRole('link', { name: /^View / });
    assert.match((await example.getAttribute('href')) ?? '', /^\/domain\/[a-z0-9.-]+$/);
    await page.route('**/site.json', (route) => route.fulfill({ json: { example_domain: 'example.com' } }));
    await page.goto(`${demo().stack}/domain/no-such-name-at-all.com`);
    await page.getByRole('heading', { name: 'This domain does not exist' }).waitFor();
    assert.equal(await page.getByText('simulated').count(), 0);
  });
  inPage('compares domains, adds one and removes one', '/compare?domains=PAIR', async (page) => {
    const [first, second, third] = domains as [string, string, string];
    await page.getByLabel('Add a domain').fill('not a domain!!');
    await page.keyboard.press('Enter');
    await page.getByText('“not a domain!!” is not a valid domain name').waitFor();
    assert.doesNotMatch(page.url(), /not/);
    await page.getByLabel('Add a domain').fill(third);
    await page.keyboard.press('Enter');
    await page.getByRole('columnheader', { name: third }).getByRole('link', { name: third, exact: true }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('domains'), [first, second, third].join());
    await page.getByText('≠ differs').first().waitFor();
    await page.getByRole('link', { name: `Remove ${first}` }).click();
    await page.getByRole('columnheader', { name: first }).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).searchParams.get('domains'), [second, third].join());
    await page.getByLabel('Show differences only').check();
    await page.waitForURL(/only=differences/);
    await page.locator('.compare tbody tr:not(.differs)').first().waitFor({ state: 'detached' });
  });
  inPage('compares providers', '/compare?providers=PROVIDERS', async (page) => {
    for (const name of [migration.from, migration.to])
      await page.getByRole('columnheader', { name }).getByRole('link', { name, exact: true }).waitFor();
    const lost = page.getByRole('row', { name: /^Lost in 30 days/ }).getByRole('link');
    assert.match((await lost.first().getAttribute('href')) ?? '', /^\/provider\/[^/?]+\?tab=customers$/);
  });
});
