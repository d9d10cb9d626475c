// The market, its migrations and one provider: by clicks from a provider to the customers that it lost.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import type { PageTests } from '../web.test.ts';
import { assertLooks, settled, visit } from './browser.ts';

/** A provider of the demo that is in two markets, and gains and loses customers all the time. */
const PROVIDER = 'cloudflare';

export const tests: PageTests = ({ browser, demo }) => {
  const open = (path: string) => visit(browser(), demo().stack + path, { key: demo().stackKey });

  it("leads by clicks from the market to a provider's lost customers and where they went", async () => {
    await using visited = await open('/market?category=dns');
    const { page, trouble } = visited;
    await page.getByText('The numbers as a table').first().click();
    await page
      .getByRole('region', { name: 'Share of providers: DNS' })
      .getByRole('link', { name: 'Cloudflare' })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Cloudflare' }).waitFor();
    await page.getByRole('img', { name: /^Domains that left Cloudflare/ }).waitFor();
    await page.getByRole('link', { name: 'Lost customers' }).click();
    await page.getByRole('heading', { name: /migrations? away from Cloudflare$/ }).waitFor();
    const { searchParams } = new URL(page.url());
    assert.deepEqual(Object.fromEntries(searchParams), { provider: PROVIDER, direction: 'out', days: '30' });
    assert.deepEqual(new Set(await column(page, 'Migrations', 'From')), new Set(['Cloudflare']));
    const went = await column(page, 'Migrations', 'To');
    assert.ok(went.length > 0);
    assert.ok(!went.includes('Cloudflare'));

    await page.getByRole('region', { name: 'Migrations' }).getByRole('row').nth(1).getByRole('link').first().click();
    await page.waitForURL(/\/domain\//);
    assert.deepEqual(trouble, []);
  });

  it('says of a flow as many domains as the list behind it has', async () => {
    await using visited = await open(`/migrations?provider=${PROVIDER}&direction=out&category=dns`);
    const { page } = visited;
    await page.getByText('The numbers as a table').first().click();
    const flow = page
      .getByRole('region', { name: /^Migrations of 30 days/ })
      .getByRole('row')
      .nth(1);
    const count = Number(await flow.getByRole('link').last().innerText());
    await flow.getByRole('link').last().click();
    await page.getByRole('heading', { name: /away from Cloudflare to / }).waitFor();
    assert.equal((await column(page, 'Migrations', 'To')).length, count);
  });

  it('keeps the category in the address, and parked domains beside it', async () => {
    await using visited = await open('/market');
    const { page } = visited;
    await page.getByRole('heading', { name: 'DNS: share of providers' }).waitFor();
    await page.getByRole('navigation', { name: 'Category' }).getByRole('link', { name: 'Email', exact: true }).click();
    await page.getByRole('heading', { name: 'Email: share of providers' }).waitFor();
    await page.getByRole('link', { name: 'Count parked domains too' }).click();
    await page.getByRole('link', { name: 'Leave parked domains out' }).waitFor();
    assert.equal(new URL(page.url()).search, '?category=email&include_parked=true');
    await page.reload();
    await page.getByRole('heading', { name: 'Email: share of providers' }).waitFor();
    await page.goBack();
    await page.goBack();
    await page.getByRole('heading', { name: 'DNS: share of providers' }).waitFor();
  });

  it('saves a list as CSV with its header row, and checks its receipt', async () => {
    await using visited = await open(`/migrations?provider=${PROVIDER}&direction=out`);
    const { page } = visited;
    await page.getByText('Download as CSV').click();
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: `Save migrations-${PROVIDER}-out.csv` }).click();
    const download = await started;
    assert.equal(download.suggestedFilename(), `migrations-${PROVIDER}-out.csv`);
    const [header, ...rows] = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    assert.equal(header, 'id,at,confirmed_at,domain,category,from,to,from_id,to_id,confidence,importance');
    assert.ok(rows.length > 0);
    assert.ok(rows.every((row) => row.split(',')[7] === PROVIDER));

    const file = page.locator('.market-csv');
    await file.getByRole('button', { name: 'Verify' }).click();
    await file.getByText('The receipt holds').waitFor();
    const receipt = page.waitForEvent('download');
    await file.getByRole('button', { name: 'Save the receipt' }).click();
    const { receipt_id } = JSON.parse(readFileSync(await (await receipt).path(), 'utf8'));
    assert.match(receipt_id, /^rwr_/);
  });

  it('asks only for the parts of a provider that are opened', async () => {
    await using visited = await open(`/provider/${PROVIDER}`);
    const { page, trouble } = visited;
    await settled(page);
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
    await page.getByText(/^51 to 100 of/).waitFor();
    assert.match(page.url(), /\?tab=domains&offset=50$/);
    assert.deepEqual(
      asked.map((path) => path.split('/').at(-2)),
      ['adoption', 'supply-chain', 'providers'],
    );
    assert.deepEqual(trouble, []);
  });

  it('says that a provider is not known', async () => {
    const { stack, stackKey } = demo();
    await using visited = await visit(browser(), `${stack}/provider/no-such-provider`, { key: stackKey }, [404]);
    await visited.page.getByRole('alert').or(visited.page.locator('.notice')).waitFor();
    assert.match(await visited.page.locator('.notice').innerText(), /no-such-provider/);
    assert.deepEqual(visited.trouble, []);
  });

  for (const [name, path] of [
    ['market', '/market?category=email'],
    ['migrations', '/migrations'],
    ['provider', `/provider/${PROVIDER}`],
    ['provider-over-time', `/provider/${PROVIDER}?tab=adoption`],
    ['provider-dependence', `/provider/${PROVIDER}?tab=dependence`],
  ] as const) {
    it(`looks right: ${name}`, async () => {
      await assertLooks(browser(), demo().stack + path, { key: demo().stackKey, name });
    });
  }
};

/** What stands in one column of a table, row by row. */
async function column(page: Page, table: string, name: string): Promise<string[]> {
  const place = page.getByRole('region', { name: table, exact: true });
  const names = await place.getByRole('columnheader').allInnerTexts();
  const cells = place.locator(`tbody tr:not([aria-hidden]) td:nth-child(${names.indexOf(name) + 1})`);
  return cells.allInnerTexts();
}
