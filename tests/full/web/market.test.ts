// The market, its migrations and one provider: by clicks from a provider to the customers that it lost.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before } from 'node:test';
import type { Page } from 'playwright-core';
import { assertReceiptHolds } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';
import { assertListed, inFigure, inHeading, inTable, type LinkOf, type ListKind } from '../../support/web/listed.ts';

/** A provider of the demo that is in two markets, and gains and loses customers all the time. */
const PROVIDER = 'cloudflare';

describePages('market', ({ answer, demo, inPage, named }) => {
  /** Who of the largest DNS providers lost most customers: one always did, and the demo says which. */
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
    await page.getByText('The numbers as a table').first().click();
    const shares = page.getByRole('region', { name: 'Share of providers: DNS' });
    await shares.getByRole('link', { name: loser.name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: loser.name }).waitFor();
    await page.getByRole('img', { name: new RegExp(`^Services that left ${loser.name}`) }).waitFor();
    await page.getByRole('link', { name: 'Lost customers' }).click();
    await page.getByRole('heading', { name: /^\d+ domains? left since / }).waitFor();
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { tab: 'customers' });
    const went = await column(page, `Lost customers of ${loser.name}`, 'Where they went');
    assert.ok(went.length > 0);
    for (const name of went) assert.ok(name !== '' && !name.startsWith(loser.name), went.join());
    const confirmed = await column(page, `Lost customers of ${loser.name}`, 'Confirmed');
    assert.ok(confirmed.every((day) => /^\d{1,2} \w+ \d{4}$/.test(day)));

    const lost = page.getByRole('region', { name: `Lost customers of ${loser.name}` });
    await lost.getByRole('row').nth(1).getByRole('link').first().click();
    await page.waitForURL(/\/domain\//);
  });

  /** A page (LOSER is who lost most), a number on it by its place, and where the list behind it tells its own number. */
  const NUMBERS: readonly (readonly [what: string, path: string, of: LinkOf, list: ListKind])[] = [
    ['users of a provider', '/market?category=dns', inTable('Share of providers: DNS', 'Domains'), 'search'],
    ['parked ones too', '/market?category=email&include_parked=true', inTable(/^Share of prov/, 'Domains'), 'search'],
    ['domains of a leader', '/market?category=dns', inTable('Leaders', 'Domains, all markets'), 'domains'],
    ['domains of a provider', `/provider/${PROVIDER}`, inFigure('Domains'), 'domains'],
    ['lost customers', '/provider/LOSER', inFigure('Lost in 30 days'), 'customers'],
    ['gained customers', '/provider/LOSER', inFigure('Gained in 30 days'), 'customers'],
    ['services that moved away', '/provider/LOSER', inHeading(/services? moved away$/), 'migrations'],
    ['a market of a provider', `/provider/${PROVIDER}`, inTable('Its markets', 'Domains'), 'search'],
    ['common users', `/provider/${PROVIDER}?tab=company`, inTable(/^Providers used together/, 'Common'), 'search'],
    ['dependent domains', `/provider/${PROVIDER}?tab=dependence`, inFigure('Dependent domains'), 'domains'],
    [
      'common dependence',
      `/provider/${PROVIDER}?tab=dependence`,
      inTable(/^Its domains also rest/, 'Common'),
      'search',
    ],
    ['a flow', '/migrations?provider=LOSER', inTable(/^Migrations of DNS/, 'Domains'), 'migrations'],
    ['a flow of a day by hours', '/migrations?hours=168', inTable(/^Migrations of DNS/, 'Domains'), 'migrations'],
  ];
  for (const [what, path, of, list] of NUMBERS)
    inPage(`leads from a number to a list of as many: ${what}`, path, (page) => assertListed(page, of, list));
  inPage('shows loading, empty and failed apart', { path: '/status', allowed: [503] }, async (page) => {
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
    assert.equal(await page.getByText(/Nobody moved|No migration/).count(), 0);
    gate.resolve();
    await page.getByText('No migration fits these filters.').waitFor();
    await page.getByText('Nobody moved like this within this time.').waitFor();
    // Another question: the rows of the last one are not shown under its words.
    status = 503;
    await page.getByLabel('Category').selectOption('dns');
    await page.getByText('The store does not answer.').waitFor();
    assert.equal(await page.getByText(/Nobody moved|No migration/).count(), 0);
  });
  inPage('saves a list as CSV and checks its receipt', '/migrations?provider=LOSER&direction=out', async (page) => {
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const download = await started;
    assert.equal(download.suggestedFilename(), `migrations-${loser.id}-out.csv`);
    const csv = readFileSync(await download.path(), 'utf8').trim();
    const [header, ...rows] = csv.split('\r\n');
    assert.equal(header, 'id,at,confirmed_at,domain,category,from,to,from_id,to_id,confidence,importance');
    assert.ok(rows.length > 0);
    assert.ok(rows.every((row) => row.split(',')[7] === loser.id));
    // The page was asked before the file, and more may have left in between.
    const heading = page.getByRole('heading', { name: `within 30 days away from ${loser.name}` });
    const told = async () => Number.parseInt(await heading.innerText(), 10);
    const onPage = await told();
    assert.ok(rows.length >= onPage, `${rows.length} rows, where the page says ${onPage}`);
    if (rows.length > onPage) {
      await page.reload();
      await heading.waitFor();
      assert.ok(rows.length <= (await told()), `${rows.length} rows`);
      return;
    }

    const file = page.locator('.csv');
    await assertReceiptHolds(file);
    const receipt = page.waitForEvent('download');
    await file.getByRole('button', { name: 'Save its receipt' }).click();
    const { receipt_id } = JSON.parse(readFileSync(await (await receipt).path(), 'utf8'));
    assert.match(receipt_id, /^rwr_/);
  });
  inPage('asks only for the parts of a provider that are opened', '/provider/cloudflare', async (page) => {
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/stack/v1/')) asked.push(pathname);
    });
    const parts = page.getByRole('navigation', { name: 'Parts of this page' });
    await parts.getByRole('link', { name: 'Over time' }).click();
    await page.getByRole('img', { name: /^Domains of Cloudflare by day/ }).waitFor();
    await parts.getByRole('link', { name: 'Used together with' }).click();
    await page.getByRole('region', { name: 'Providers used together with Cloudflare' }).waitFor();
    await parts.getByRole('link', { name: 'Dependence' }).click();
    await page.getByText('concentration risk').waitFor();
    await parts.getByRole('link', { name: 'Domains' }).click();
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await page.getByText(/^51 to \d+ of/).waitFor();
    assert.match(page.url(), /\?tab=domains&offset=50$/);
    const routes = asked.map((path) => path.split('/').at(-2));
    assert.deepEqual(routes, ['adoption', 'supply-chain', 'providers']);
  });
  inPage('says that a provider is not known', { path: '/provider/no-such-provider', allowed: [404] }, async (page) => {
    await page.getByRole('alert').or(page.locator('.notice')).waitFor();
    assert.match(await page.locator('.notice').innerText(), /no-such-provider/);
  });
});

interface Leaving {
  readonly provider: string;
  readonly provider_id: string;
  readonly lost_30d: number;
}

async function column(page: Page, table: string, name: string): Promise<string[]> {
  const place = page.getByRole('region', { name: table, exact: true });
  const names = await place.getByRole('columnheader').allInnerTexts();
  const cells = place.locator(`tbody tr:not([aria-hidden]) td:nth-child(${names.indexOf(name) + 1})`);
  return cells.allInnerTexts();
}
