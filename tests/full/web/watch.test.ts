// The pages that keep watch: live events, feeds, the state of the service, the security scorecard, alerts and advisories.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { assertAccessible, assertReceiptHolds, settled } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';
import { assertListed, inFigure, inTable } from '../../support/web/listed.ts';

const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** What the page is told while something is done in it. The demo goes on, so that asking again may tell another story. */
async function told(page: Page, path: string, act: () => Promise<unknown>) {
  const answered = page.waitForResponse((response) => response.url().includes(path));
  await act();
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer that it waits for
  return (await (await answered).json()) as any;
}

/** The day before the last, as the end of a judged day. */
const JUDGED_DAY = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000 - 1).toISOString();
/** As the service tells one: the demo's days are too alike to have any. */
const ANOMALY = {
  ...{ id: 'an_provider_godaddy_losses_1', at: JUDGED_DAY, metric: 'losses', direction: 'up', severity: 'critical' },
  ...{ subject: 'GoDaddy', subject_kind: 'provider', subject_id: 'godaddy' },
  ...{ value: 23, mean: 1.4, stddev: 1.6, sigma: 13.5, window_days: 28, samples: 27, chance: 1e-9 },
};
const OF_A_CATEGORY = { id: 'an_category_dns', subject: 'dns', subject_id: 'dns', subject_kind: 'category' };
const ANOMALIES = [ANOMALY, { ...ANOMALY, ...OF_A_CATEGORY, metric: 'migrations' }];

async function withAnomalies(page: Page): Promise<void> {
  await page.route('**/stack/v1/anomalies**', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as object;
    await route.fulfill({ response: answer, json: { ...body, total: ANOMALIES.length, anomalies: ANOMALIES } });
  });
}

describePages('live', ({ answer, demo, inPage }) => {
  for (const isPaused of [false, true])
    inPage(`shows a migration without a reload, paused: ${isPaused}`, '/status', async (page) => {
      const past = '/stack/v1/stream/json?types=migration&since=2020-01-01T00:00:00Z';
      const { events } = await answer<{ readonly events: readonly object[] }>(past);
      // One that has not happened: the demo's own come only every minute or so.
      const domain = 'just-moved.example';
      const event = { ...events.at(-1), id: 'ev_9999999999', domain, published_at: new Date().toISOString() };
      const send = Promise.withResolvers<void>();
      let streams = 0;
      await page.route(/\/stack\/v1\/stream(?:\?|$)/, async (route) => {
        streams += 1;
        if (streams > 2) return route.continue();
        // The page reads the past once a stream is open; its second stream brings the event.
        if (streams === 2) await send.promise;
        const body = streams === 1 ? ': open\n\n' : `event: migration\ndata: ${JSON.stringify(event)}\n\n`;
        await route.fulfill({ contentType: 'text/event-stream', body });
      });
      await page.goto(`${demo().stack}/live`);
      await page.locator('.live-event').first().waitFor();
      if (isPaused) await page.getByRole('button', { name: 'Pause' }).click();
      const url = page.url();
      send.resolve();
      const row = page.locator('.live-event.new', { hasText: domain });
      if (isPaused) {
        const resume = page.getByRole('button', { name: /^Resume · [1-9]\d* waiting$/ });
        await resume.waitFor();
        assert.equal(await row.count(), 0);
        await resume.click();
      }
      await row.waitFor();
      const told = await row.locator('p').first().textContent();
      assert.match(told ?? '', /^just-moved\.example moved its .+ from .+ to /);
      assert.equal(await row.locator('a[href^="/provider/"]').count(), 2);
      assert.equal(page.url(), url);
    });
  inPage('begins with the past hour, newest first, each event with a receipt that holds', '/live', async (page) => {
    await page.locator('.live-event').first().waitFor();
    const shown = page.locator('.live-event time');
    const times = await shown.evaluateAll((all) => all.map((time) => time.getAttribute('datetime') ?? ''));
    assert.ok(times.length > 1);
    assert.deepEqual(times, times.toSorted().toReversed());
    // By its time: the first row is another one as soon as an event comes.
    const row = page.locator('.live-event', { has: page.locator(`time[datetime="${times[0]}"]`) }).first();
    await assertReceiptHolds(row, 'Receipt');
  });
  inPage('has its filter in the address', '/live?types=migration&category=dns', async (page) => {
    await page.locator('.live-event').first().waitFor();
    assert.equal(await page.getByLabel('Category').inputValue(), 'dns');
    assert.equal(await page.getByLabel('Migrations').isChecked(), true);
    assert.equal(await page.getByLabel('Advisories').isChecked(), false);
    for (const text of await page.locator('.live-event > div > p:first-child').allTextContents())
      assert.match(text, /moved its DNS from/);

    await page.getByLabel('Category').selectOption('');
    await page.getByLabel('Advisories').check();
    await page.getByRole('textbox', { name: 'Domain' }).fill('nobody.example');
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.waitForURL(/domain=nobody\.example/);
    assert.equal(new URL(page.url()).search, '?types=migration%2Cadvisory&domain=nobody.example');
    await page.getByText('Nothing in the last hour').waitFor();

    await page.goBack();
    await page.locator('.live-event').first().waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Domain' }).inputValue(), '');
  });
  inPage('reports an unknown provider', { path: '/live?provider=nobody-knows-it', allowed: [404] }, async (page) => {
    await page.locator('.notice').getByText('nobody-knows-it').waitFor();
  });
  inPage('asks for a key', { path: '/live', key: undefined, allowed: [401] }, (page) =>
    page.getByRole('button', { name: 'Get a free key' }).waitFor(),
  );
});

describePages('feeds and status', ({ demo, inPage }) => {
  inPage('from all feeds to one domain, what names it and what it runs', '/feeds', async (page) => {
    await page.getByRole('heading', { name: 'Most named: 7 days' }).waitFor();
    const leaders = page.getByRole('region', { name: 'Domains that feeds name most often' });
    await leaders.locator('tbody tr').first().waitFor();
    await page.getByRole('link', { name: '30 days', exact: true }).click();
    await page.getByRole('heading', { name: 'Most named: 30 days' }).waitFor();
    assert.equal(new URL(page.url()).search, '?window=30d');
    await settled(page);

    const domain = await leaders.locator('.feeds-domain').first().innerText();
    await leaders.locator('.feeds-domain').first().click();
    await page.getByRole('heading', { name: `${domain} in feeds`, level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, `/feeds/${domain}`);
    const feeds = page.getByRole('region', { name: 'Feeds that name the domain' });
    await feeds.locator('tbody tr').first().waitFor();
    for (const link of await feeds.locator('a').all()) {
      assert.match((await link.getAttribute('href')) ?? '', /^https?:\/\//);
      assert.equal(await link.getAttribute('rel'), 'noopener noreferrer nofollow');
    }
    await page.getByText('The numbers as a table').click();
    const days = page.getByRole('region', { name: /^Mentions of .+ on each/ }).locator('tbody tr');
    assert.equal(await days.count(), 30);
    await page.getByRole('link', { name: 'Stack and history' }).click();
    await page.waitForURL(`**/domain/${domain}`);
  });
  inPage('health, what is known, the sources, the ledger and the keys', '/status', async (page) => {
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    await card('Service').getByText('ok', { exact: true }).waitFor();
    const asked = await fetch(`${demo().stack}/ledger/checkpoint`);
    const [origin = '', size = ''] = (await asked.text()).split('\n');
    const shown = await card('Ledger').locator('.figure-value').innerText();
    assert.ok(Number(shown.replaceAll(/\D/g, '')) > 0 && Number(shown.replaceAll(/\D/g, '')) <= Number(size));
    await card('Ledger').getByText(origin, { exact: true }).first().waitFor();
    assert.equal(await card('Sources of advisories').locator('tbody tr').count(), 5);
    await card('Signing keys').getByText('current').waitFor();

    // Health is asked without a key, so anybody can check a receipt here.
    await assertReceiptHolds(card('Service'), 'API and receipt');
  });
});

describePages('security', ({ inPage }) => {
  inPage('shows each standard with its denominator and leads to the domains', '/security', async (page) => {
    const row = page.getByRole('row', { name: /^DNSSEC/ });
    const cells = await row.getByRole('cell').allTextContents();
    assert.match(cells.slice(1, 4).join(), /^\d+,\d+,.*%$/);
    assert.ok(Number(cells[1]) <= Number(cells[2]), `${cells[1]} of ${cells[2]} measured`);
    await row.getByRole('link').first().click();
    await page.waitForURL(/\/search\?/);
    assert.equal(searchOf(page).flag, 'dnssec');
  });

  for (const [what, path, of] of [
    ['all domains', '', inFigure('Domains')],
    ['a share', '', inFigure('Valid SPF')],
    ['domains with a standard', '', inTable('Who may send: SPF', 'Domains')],
    ['domains in which it was measured', '', inTable('What happens to forgeries: DMARC', 'Measured')],
    ['domains without it', '', inTable('Transport, names and web', 'Without')],
    ['domains of a grade', '', inTable('Domains by grade', 'Domains')],
    ['domains of a sector', '', inTable('Standards by sector', 'Domains')],
    ['a standard in a sector', '', inTable('Standards by sector', 'DMARC')],
    ['a standard of the sector that is chosen', '?sector=government', inTable('Who may send: SPF', 'Domains')],
  ] as const) {
    inPage(`leads from a number to a list of as many: ${what}`, `/security${path}`, (page) =>
      assertListed(page, of, 'search'),
    );
  }
});

describePages('alerts and advisories', ({ answer, demo, inPage }) => {
  inPage('filters by kind and severity, in the address too', '/alerts', async (page) => {
    const { alerts } = (await told(page, '/stack/v1/alerts', () => page.reload())) as {
      alerts: { kind: string; severity: string }[];
    };
    await settled(page);
    assert.equal(await page.locator('.alerts-list > li').count(), alerts.length);
    await page.getByLabel('Kind').selectOption('advisory');
    await page.getByLabel('Severity').selectOption('high');
    assert.deepEqual(searchOf(page), { kind: 'advisory', severity: 'high' });
    const wanted = alerts.filter(({ kind, severity }) => kind === 'advisory' && severity === 'high');
    assert.ok(wanted.length > 0 && wanted.length < alerts.length);
    const status = page.getByRole('status').filter({ hasText: `${wanted.length} of ${alerts.length} alerts` });
    await status.waitFor();
    assert.equal(await page.locator('.alerts-list > li').count(), wanted.length);
  });
  inPage('leads from an exploited vulnerability to the domains concerned', '/alerts?kind=advisory', async (page) => {
    const first = page.locator('.alerts-list > li').first();
    const id = /^\S+/.exec((await first.getByRole('heading').textContent()) ?? '')?.[0];
    await first.getByRole('link', { name: 'Domains concerned' }).click();
    await page.getByRole('heading', { level: 1, name: id ?? '' }).waitFor();
    assert.deepEqual(searchOf(page), { advisory: id });
  });
  inPage('opens an anomaly with its series and the band of three standard deviations', '/alerts', async (page) => {
    await withAnomalies(page);
    await page.reload();
    await settled(page);
    await page.getByRole('link', { name: 'Open the series of GoDaddy' }).click();
    assert.equal(searchOf(page).anomaly, ANOMALY.id);
    const title = /^GoDaddy, losses by day: 23 .* 0 to 6\.2 is within three standard/;
    const chart = page.getByRole('img', { name: title });
    await chart.waitFor();
    await page.getByText('The numbers as a table').click();
    const { curve } = await answer<{ curve: object[] }>('/stack/v1/intelligence/adoption/godaddy');
    const days = page.getByRole('region', { name: 'GoDaddy, losses by day' }).getByRole('row');
    assert.ok((await days.count()) - 1 >= curve.length, 'a row for each day');
    const cell = (name: string) => page.getByRole('cell', { name, exact: true });
    const outside = days.filter({ has: cell('no') }).filter({ has: cell('23') });
    assert.equal(await outside.count(), 1);
    await assertAccessible(page);
    await page.getByRole('link', { name: 'Close' }).click();
    await chart.waitFor({ state: 'detached' });
  });
  inPage('filters by severity and exploitation, in the address too', '/advisories', async (page) => {
    await page.getByLabel('Severity').selectOption('critical');
    const { total } = await told(page, 'severity=critical&known_exploited=true', () =>
      page.getByLabel('Known exploited').selectOption('true'),
    );
    assert.deepEqual(searchOf(page), { severity: 'critical', known_exploited: 'true' });
    const table = page.getByRole('region', { name: 'Advisories', exact: true });
    await page.getByText(new RegExp(`^1 to ${total} of ${total}$`)).waitFor();
    const rows = await table.locator('tbody tr').allTextContents();
    assert.equal(rows.length, total);
    for (const row of rows) assert.match(row, /exploited.*critical/);
  });
  inPage('keeps domains that are affected apart from those that may be', '/status', async (page) => {
    const id = 'CVE-2021-42013';
    const { domains } = await told(page, '/enrichment/affected', () =>
      page.goto(`${demo().stack}/advisories?advisory=${id}`),
    );
    await page.getByRole('heading', { name: `Affected: ${domains.version}`, exact: true }).waitFor();
    await page.getByRole('heading', { name: `Not known whether affected: ${domains.product}` }).waitFor();
    const namesIn = async (name: string) =>
      await page.getByRole('region', { name, exact: true }).locator('tbody td:first-child').allTextContents();
    const affected = await namesIn('Domains that show an affected version');
    const others = await namesIn('Domains that use the product');
    assert.deepEqual([affected.length, others.length], [domains.version, domains.product]);
    assert.ok(!affected.some((name) => others.includes(name)));
    const outside = page.locator(`a[href="https://www.cve.org/CVERecord?id=${id}"]`).first();
    assert.equal(await outside.getAttribute('rel'), 'noopener noreferrer nofollow');
    await assertAccessible(page);
  });
});
