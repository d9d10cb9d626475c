// The monitoring pages: live events, feeds, service status, security scorecard, alerts and advisories.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { casesOf } from '../../support/vectors.ts';
import { answerDuring, assertAccessible, assertReceiptHolds, PHONE, settled } from '../../support/web/browser.ts';
import { describePages, parametersAre } from '../../support/web/demo.ts';
import { assertListed, linkOf, type NumberCase } from '../../support/web/listed.ts';

/** The end of the evaluated day: the last UTC midnight. */
const EVALUATED_DAY = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000 - 1).toISOString();
/** In the format of the service: the days of the demo are too uniform for anomalies. */
const ANOMALY = { ...casesOf<{ readonly id: string }>('web', 'anomaly'), at: EVALUATED_DAY };
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
      // A simulated event: events of the demo occur only about once a minute.
      const domain = 'just-moved.example';
      const event = { ...events.at(-1), id: 'ev_9999999999', domain, published_at: new Date().toISOString() };
      const send = Promise.withResolvers<void>();
      let streams = 0;
      await page.route(/\/stack\/v1\/stream(?:\?|$)/, async (route) => {
        streams += 1;
        if (streams > 2) return route.continue();
        // The page requests past events when the first stream opens; the second stream has the event.
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
        const resume = page.getByRole('button', { name: /^Resume · [1-9]\d* new$/ });
        await resume.waitFor();
        assert.equal(await row.count(), 0);
        await resume.click();
      }
      await row.waitFor();
      const text = await row.locator('p').first().textContent();
      assert.match(text ?? '', /^just-moved\.example migrated its .+ from .+ to /);
      assert.equal(await row.locator('a[href^="/provider/"]').count(), 2);
      assert.equal(page.url(), url);
    });
  inPage('starts with the past hour, newest first, each event with a valid receipt', '/live', async (page) => {
    await page.locator('.live-event').first().waitFor();
    const shown = page.locator('.live-event time');
    const times = await shown.evaluateAll((all) => all.map((time) => time.getAttribute('datetime') ?? ''));
    assert.ok(times.length > 1);
    assert.deepEqual(times, times.toSorted().toReversed());
    // Located by time: a new event changes the first row.
    const row = page.locator('.live-event', { has: page.locator(`time[datetime="${times[0]}"]`) }).first();
    await assertReceiptHolds(row, 'Receipt');
  });
  inPage('has its filter in the URL', '/live?types=migration&category=dns', async (page) => {
    await page.locator('.live-event').first().waitFor();
    assert.equal(await page.getByLabel('Category').inputValue(), 'dns');
    assert.equal(await page.getByLabel('Migrations').isChecked(), true);
    assert.equal(await page.getByLabel('Advisories').isChecked(), false);
    for (const text of await page.locator('.live-event > div > p:first-child').allTextContents())
      assert.match(text, /migrated its DNS from/);

    await page.getByLabel('Category').selectOption('');
    await page.getByLabel('Advisories').check();
    await page.getByRole('textbox', { name: 'Domain' }).fill('unknown.example');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/domain=unknown\.example/);
    assert.equal(new URL(page.url()).search, '?types=migration%2Cadvisory&domain=unknown.example');
    await page.getByText('No events in the last hour').waitFor();

    await page.goBack();
    await page.locator('.live-event').first().waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Domain' }).inputValue(), '');
  });
  inPage('reports an unknown provider', { path: '/live?provider=no-such-provider', allowed: [400] }, async (page) => {
    await page.locator('.notice').getByText('no-such-provider').waitFor();
  });
  inPage('asks for a key', { path: '/live', key: undefined, allowed: [401], ...PHONE }, async (page) => {
    await page.getByRole('button', { name: 'Get a free key' }).waitFor();
    const key = await page.getByLabel('Use an existing key').boundingBox();
    const save = await page.getByRole('button', { name: 'Save' }).boundingBox();
    assert.ok(key && save && key.x + key.width < save.x);
  });
});

describePages('feeds and status', ({ demo, inPage }) => {
  inPage('link from all feeds to one domain, its mentions and its stack', '/feeds', async (page) => {
    await page.getByRole('heading', { name: 'Most mentioned: 7 days' }).waitFor();
    const leaders = page.getByRole('region', { name: 'Most mentioned domains' });
    await leaders.locator('tbody tr').first().waitFor();
    await page.getByRole('link', { name: '30 days', exact: true }).click();
    await page.getByRole('heading', { name: 'Most mentioned: 30 days' }).waitFor();
    assert.equal(new URL(page.url()).search, '?window=30d');
    await settled(page);

    const domain = await leaders.locator('a.strong').first().innerText();
    await leaders.locator('a.strong').first().click();
    await page.getByRole('heading', { name: `${domain} in feeds`, level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, `/feeds/${domain}`);
    const feeds = page.getByRole('region', { name: 'Feeds that mention the domain' });
    await feeds.locator('tbody tr').first().waitFor();
    for (const link of await feeds.locator('a').all()) {
      assert.match((await link.getAttribute('href')) ?? '', /^https?:\/\//);
      assert.equal(await link.getAttribute('rel'), 'noopener noreferrer nofollow');
    }
    await page.getByText('View as table').click();
    const days = page.getByRole('region', { name: /^Mentions of .+ per day/ }).locator('tbody tr');
    assert.equal(await days.count(), 30);
    await page.getByRole('link', { name: 'View stack and history' }).click();
    await page.waitForURL(`**/domain/${domain}`);
  });
  inPage('show health, data coverage, sources, ledger and keys', '/status', async (page) => {
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    await card('Service').getByText('ok', { exact: true }).waitFor();
    const shown = await card('Ledger').locator('.figure-value').innerText();
    const asked = await fetch(`${demo().stack}/ledger/checkpoint`);
    const [origin = '', size = ''] = (await asked.text()).split('\n');
    assert.ok(Number(shown.replaceAll(/\D/g, '')) > 0 && Number(shown.replaceAll(/\D/g, '')) <= Number(size));
    await card('Ledger').getByText(origin, { exact: true }).first().waitFor();
    assert.equal(await card('State of the advisory sources').locator('tbody tr').count(), 5);
    await card('Signing keys').getByText('current').waitFor();

    // Health requires no API key, so receipts can be verified without one.
    await assertReceiptHolds(card('Service'), 'API and receipt');
  });
});

describePages('security', ({ inPage }) => {
  inPage('shows each standard with its denominator and links to the domains', '/security', async (page) => {
    const row = page.getByRole('row', { name: /^DNSSEC/ });
    const cells = await row.getByRole('cell').allTextContents();
    assert.match(cells.slice(1, 4).join(), /^\d+,\d+,.*%$/);
    assert.ok(Number(cells[1]) <= Number(cells[2]), `${cells[1]} of ${cells[2]} measured`);
    await row.getByRole('link').first().click();
    await page.waitForURL((url) => url.pathname === '/search' && url.searchParams.get('flag') === 'dnssec');
  });

  for (const each of casesOf<NumberCase[]>('web', 'numbers with a list: security'))
    inPage(`links a number to a list of the same size: ${each[0]}`, each[1], (page) =>
      assertListed(page, linkOf(each), each[2]),
    );
});

describePages('alerts and advisories', ({ answer, demo, inPage }) => {
  inPage('filters by kind and severity, also in the URL', '/alerts', async (page) => {
    const { alerts } = (await answerDuring(page, '/stack/v1/alerts', () => page.reload())) as {
      alerts: { kind: string; severity: string }[];
    };
    await settled(page);
    assert.equal(await page.locator('.alerts-list > li').count(), alerts.length);
    await page.getByLabel('Kind').selectOption('advisory');
    await page.getByLabel('Severity').selectOption('high');
    await parametersAre(page, { kind: 'advisory', severity: 'high' });
    const wanted = alerts.filter(({ kind, severity }) => kind === 'advisory' && severity === 'high');
    assert.ok(wanted.length > 0 && wanted.length < alerts.length);
    const status = page.getByRole('status').filter({ hasText: `${wanted.length} of ${alerts.length} alerts` });
    await status.waitFor();
    assert.equal(await page.locator('.alerts-list > li').count(), wanted.length);
  });
  inPage('links an exploited vulnerability to the affected domains', '/alerts?kind=advisory', async (page) => {
    const first = page.locator('.alerts-list > li').first();
    const id = /^\S+/.exec((await first.getByRole('heading').textContent()) ?? '')?.[0];
    await first.getByRole('link', { name: 'Affected domains' }).click();
    await page.getByRole('heading', { level: 1, name: id ?? '' }).waitFor();
    await parametersAre(page, { advisory: id });
  });
  inPage('opens an anomaly with its time series and the band of three standard deviations', '/alerts', async (page) => {
    await withAnomalies(page);
    await page.reload();
    await settled(page);
    await page.getByRole('link', { name: 'View the time series of GoDaddy' }).click();
    await parametersAre(page, { anomaly: ANOMALY.id });
    const title = /^GoDaddy, losses by day: 23 .* standard deviations is 0 to 6\.2/;
    const chart = page.getByRole('img', { name: title });
    await chart.waitFor();
    await page.getByText('View as table').click();
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
  inPage('filters by severity and exploitation, also in the URL', '/advisories', async (page) => {
    await page.getByLabel('Severity').selectOption('critical');
    const { total } = await answerDuring(page, 'severity=critical&known_exploited=true', () =>
      page.getByLabel('Known exploited').selectOption('true'),
    );
    await parametersAre(page, { severity: 'critical', known_exploited: 'true' });
    const table = page.getByRole('region', { name: 'Advisories', exact: true });
    await page.getByText(new RegExp(`^${total} advisor(?:y|ies)$`)).waitFor();
    const rows = await table.locator('tbody tr').allTextContents();
    assert.equal(rows.length, total);
    for (const row of rows) assert.match(row, /exploited.*critical/);
  });
  inPage('separates affected from possibly affected domains', '/status', async (page) => {
    const id = 'CVE-2021-42013';
    const { domains } = await answerDuring(page, '/enrichment/affected', () =>
      page.goto(`${demo().stack}/advisories?advisory=${id}`),
    );
    await page.getByRole('heading', { name: `Affected: ${domains.version}`, exact: true }).waitFor();
    await page.getByRole('heading', { name: `Possibly affected: ${domains.product}` }).waitFor();
    const namesIn = async (name: string) =>
      await page.getByRole('region', { name, exact: true }).locator('tbody td:first-child').allTextContents();
    const affected = await namesIn('Domains with an affected version');
    const possiblyAffected = await namesIn('Domains with an unknown version');
    assert.deepEqual([affected.length, possiblyAffected.length], [domains.version, domains.product]);
    assert.ok(!affected.some((name) => possiblyAffected.includes(name)));
    const outside = page.locator(`a[href="https://www.cve.org/CVERecord?id=${id}"]`).first();
    assert.equal(await outside.getAttribute('rel'), 'noopener noreferrer nofollow');
    await assertAccessible(page);
  });
});
