// The pages that keep watch: the security scorecard, alerts with their anomalies, advisories.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, settled } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';
import { assertListed, inFigure, inTable } from '../../support/web/listed.ts';

/** The search of the page's address. */
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

/** Puts anomalies into the service's own answer. */
async function withAnomalies(page: Page): Promise<void> {
  await page.route('**/stack/v1/anomalies**', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as object;
    await route.fulfill({ response: answer, json: { ...body, total: ANOMALIES.length, anomalies: ANOMALIES } });
  });
}

describePages('watch', ({ answer, demo, open }) => {
  describe('security', () => {
    it('shows each standard with its denominator and leads to the domains', async () => {
      await using page = await open('/security');
      await settled(page);
      const row = page.getByRole('row', { name: /^DNSSEC/ });
      const cells = await row.getByRole('cell').allTextContents();
      assert.match(cells[1] ?? '', /^\d+$/);
      assert.match(cells[2] ?? '', /^\d+$/);
      assert.ok(Number(cells[1]) <= Number(cells[2]), `${cells[1]} of ${cells[2]} measured`);
      assert.match(cells[3] ?? '', /%$/);
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
      it(`leads from a number to a list of as many: ${what}`, async () => {
        await using page = await open(`/security${path}`);
        await assertListed(page, { of, list: 'search' });
      });
    }
  });

  describe('alerts', () => {
    it('filters by kind and severity, in the address too', async () => {
      await using page = await open('/alerts');
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

    it('leads from an exploited vulnerability to the domains concerned', async () => {
      await using page = await open('/alerts?kind=advisory');
      await settled(page);
      const first = page.locator('.alerts-list > li').first();
      const id = /^\S+/.exec((await first.getByRole('heading').textContent()) ?? '')?.[0];
      await first.getByRole('link', { name: 'Domains concerned' }).click();
      await page.getByRole('heading', { level: 1, name: id ?? '' }).waitFor();
      assert.deepEqual(searchOf(page), { advisory: id });
    });

    it('opens an anomaly with its series and the band of three standard deviations', async () => {
      await using page = await open('/alerts');
      await settled(page);
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
  });

  describe('advisories', () => {
    it('filters by severity and exploitation, in the address too', async () => {
      await using page = await open('/advisories');
      await settled(page);
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

    it('keeps domains that are affected apart from those that may be', async () => {
      const id = 'CVE-2021-42013';
      await using page = await open('/status');
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
});
