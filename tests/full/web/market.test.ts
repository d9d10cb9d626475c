// The market, migrations and provider pages, from a market to the lost customers of a provider.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { casesOf } from '../../support/vectors.ts';
import { assertReceiptHolds } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';
import { assertListed, linkOf, type NumberCase } from '../../support/web/listed.ts';

describePages('market', ({ answer, demo, inPage, named }) => {
  /** The one of the largest DNS providers that lost the most customers in the demo. */
  let loser: { readonly id: string; readonly name: string };
  before(async () => {
    type Market = { readonly category: string; readonly providers: readonly Leaving[] };
    const { categories } = await answer<{ categories: readonly Market[] }>('/stack/v1/intelligence/market-share');
    const { providers } = categories.find(({ category }) => category === 'dns') ?? assert.fail();
    const ids = providers.slice(0, 12).map(({ provider_id: id }) => id);
    const asked = await Promise.all(ids.map((id) => answer<Leaving>(`/stack/v1/providers/${id}?limit=1`)));
    const [max] = asked.toSorted((a, b) => b.lost_30d - a.lost_30d);
    assert.ok(max && max.lost_30d > 0);
    loser = { id: max.provider_id, name: max.provider };
    named.LOSER = loser.id;
  });
  inPage("leads by clicks from a market to a provider's lost customers", '/market?category=dns', async (page) => {
    await page.getByText('View as table').first().click();
    const shares = page.getByRole('region', { name: 'Market share: DNS' });
    await shares.getByRole('link', { name: loser.name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: loser.name }).waitFor();
    await page.getByRole('img', { name: new RegExp(`^Services that migrated from ${loser.name}`) }).waitFor();
    await page.getByRole('link', { name: 'Lost customers' }).click();
    await page.getByRole('heading', { name: /^\d+ domains? lost since / }).waitFor();
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { tab: 'customers' });
    const newProviders = await column(page, `Lost customers of ${loser.name}`, 'New provider');
    assert.ok(newProviders.length > 0);
    for (const name of newProviders) assert.ok(name !== '' && !name.startsWith(loser.name), newProviders.join());
    const confirmed = await column(page, `Lost customers of ${loser.name}`, 'Confirmed');
    assert.ok(confirmed.every((day) => /^\d{1,2} \w+ \d{4}$/.test(day)));

    const lost = page.getByRole('region', { name: `Lost customers of ${loser.name}` });
    await lost.getByRole('row').nth(1).getByRole('link').first().click();
    await page.waitForURL(/\/domain\//);
  });

  // LOSER is replaced.
  for (const each of casesOf<NumberCase[]>('web', 'numbers with a list: market'))
    inPage(`links a number to a list of the same size: ${each[0]}`, each[1], (page) =>
      assertListed(page, linkOf(each), each[2]),
    );
  inPage('distinguishes loading, empty and failed', { path: '/status', allowed: [503] }, async (page) => {
    const gate = Promise.withResolvers<void>();
    let status = 200;
    await page.route('**/stack/v1/stats/migrations**', async (route) => {
      await gate.promise;
      if (status !== 200) {
        const problem = { title: 'Unavailable', status, detail: 'The store does not answer.', code: 'unavailable' };
        await route.fulfill({ status, json: problem });
      } else await route.continue();
    });
    await page.goto(`${demo().stack}/migrations?category=security`);
    await page.getByText('Loading …').first().waitFor();
    assert.equal(await page.getByText(/No flows|No migrations/).count(), 0);
    gate.resolve();
    await page.getByText('No migrations match these filters.').waitFor();
    await page.getByText('No flows match these filters in this period.').waitFor();
    // Another filter: the rows of the previous one are not shown.
    status = 503;
    await page.getByLabel('Category').selectOption('dns');
    await page.getByText('The store does not answer.').waitFor();
    assert.equal(await page.getByText(/No flows|No migrations/).count(), 0);
  });
  inPage('saves a list as CSV and verifies its receipt', '/migrations?provider=LOSER&direction=out', async (page) => {
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const download = await started;
    assert.equal(download.suggestedFilename(), `migrations-${loser.id}-out.csv`);
    const csv = readFileSync(await download.path(), 'utf8').trim();
    const [header, ...rows] = csv.split('\r\n');
    assert.equal(header, 'id,at,confirmed_at,domain,category,from,to,from_id,to_id,confidence,importance');
    assert.ok(rows.length > 0);
    assert.ok(rows.every((row) => row.split(',')[7] === loser.id));
    // The page was loaded before the file; more migrations may have occurred in between.
    const heading = page.getByRole('heading', { name: `from ${loser.name}, 30 days` });
    const countOnPage = async () => Number.parseInt(await heading.innerText(), 10);
    const onPage = await countOnPage();
    assert.ok(rows.length >= onPage, `${rows.length} rows, but ${onPage} on the page`);
    if (rows.length > onPage) {
      await page.reload();
      await heading.waitFor();
      assert.ok(rows.length <= (await countOnPage()), `${rows.length} rows`);
      return;
    }

    const file = page.locator('.csv');
    await assertReceiptHolds(file);
    const receipt = page.waitForEvent('download');
    await file.getByRole('button', { name: 'Save receipt' }).click();
    const { receipt_id } = JSON.parse(readFileSync(await (await receipt).path(), 'utf8'));
    assert.match(receipt_id, /^rwr_/);
  });
  inPage('loads only the opened sections of a provider', '/provider/cloudflare', async (page) => {
    const markets = page.getByRole('region', { name: 'Market position by role' });
    assert.equal(await markets.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), 0);
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/stack/v1/')) asked.push(pathname);
    });
    const sections = page.getByRole('navigation', { name: 'Sections of this page' });
    await sections.getByRole('link', { name: 'Adoption' }).click();
    await page.getByRole('img', { name: /^Domains that use Cloudflare, by day/ }).waitFor();
    await sections.getByRole('link', { name: 'Used together with' }).click();
    await page.getByRole('region', { name: 'Providers used together with Cloudflare' }).waitFor();
    await sections.getByRole('link', { name: 'Supply chain' }).click();
    await page.getByText('concentration risk').waitFor();
    await sections.getByRole('link', { name: 'Domains' }).click();
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await page.getByText(/^51 to \d+ of/).waitFor();
    assert.match(page.url(), /\?tab=domains&offset=50$/);
    const routes = asked.map((path) => path.split('/').at(-2));
    assert.deepEqual(routes, ['adoption', 'supply-chain', 'providers']);
  });
  inPage('reports an unknown provider', { path: '/provider/no-such-provider', allowed: [404] }, (page) =>
    page.locator('.notice').getByText('no-such-provider').waitFor(),
  );
});

type Leaving = Readonly<Record<'provider' | 'provider_id', string>> & { readonly lost_30d: number };

async function column(page: Page, table: string, name: string): Promise<string[]> {
  const region = page.getByRole('region', { name: table, exact: true });
  const names = await region.getByRole('columnheader').allInnerTexts();
  const cells = region.locator(`tbody tr:not([aria-hidden]) td:nth-child(${names.indexOf(name) + 1})`);
  return cells.allInnerTexts();
}
