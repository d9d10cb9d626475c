// What happens now: the live page, the feeds, the state of the service.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertReceiptHolds, settled, shows } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('live', ({ answer, demo, open }) => {
  describe('live', () => {
    test('a migration appears without a reload, and waits where the page is paused', async () => {
      const past = '/stack/v1/stream/json?types=migration&since=2020-01-01T00:00:00Z';
      const { events } = await answer<{ readonly events: readonly object[] }>(past);
      // One that has not happened: the demo's own come only every minute or so.
      const domain = 'just-moved.example';
      const event = { ...events.at(-1), id: 'ev_9999999999', domain, published_at: new Date().toISOString() };
      for (const isPaused of [false, true]) {
        await using page = await open('/status');
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
        assert.match(await row.locator('p').first().innerText(), /^just-moved\.example moved its .+ from .+ to /);
        assert.equal(await row.locator('a[href^="/provider/"]').count(), 2);
        assert.equal(page.url(), url);
      }
    });

    test('it begins with the past hour, newest first, and each event has a receipt that holds', async () => {
      await using page = await open('/live');
      await page.locator('.live-event').first().waitFor();
      const shown = page.locator('.live-event time');
      const times = await shown.evaluateAll((all) => all.map((time) => time.getAttribute('datetime') ?? ''));
      assert.ok(times.length > 1);
      assert.deepEqual(times, times.toSorted().toReversed());
      // By its time: the first row is another one as soon as an event comes.
      const row = page.locator('.live-event', { has: page.locator(`time[datetime="${times[0]}"]`) }).first();
      await assertReceiptHolds(row, 'Receipt');
    });

    test('the filter stands in the address, and the address in the filter', async () => {
      await using page = await open('/live?types=migration&category=dns');
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

    test('an unknown provider is said, and so is that a key is needed', async () => {
      await using page = await open('/live?provider=nobody-knows-it', { allowed: [404] });
      await shows(page.locator('.notice'), /nobody-knows-it/);
      await using keyless = await open('/live', { key: undefined, allowed: [401] });
      await keyless.getByRole('button', { name: 'Get a free key' }).waitFor();
    });
  });

  describe('feeds', () => {
    test('from all feeds to one domain, what names it and what it runs', async () => {
      await using page = await open('/feeds');
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
  });

  describe('status', () => {
    test('health, what is known, the sources, the ledger and the keys', async () => {
      await using page = await open('/status');
      await settled(page);
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
});
