// The page that gives a list of domains back with what is known; segments and watchlists.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { assertAccessible } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('a list of domains', ({ inPage }) => {
  inPage('comes back as a table and as files, also as a job', '/lookup', async (page) => {
    const field = page.getByLabel('Drop a file here');
    const drop = (name: string, names: readonly string[]) =>
      field.setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(['rank,domain', ...names].join('\n')) });
    const saved = async (button: string) => {
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: button }).click();
      const file = await saving;
      return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')] as const;
    };
    await drop('mine.csv', ['1,never-scanned.com', '2,=bad']);
    await page.getByRole('button', { name: 'Show table' }).click();
    const table = page.getByRole('table');
    await table.waitFor();
    const [first, second = ''] = await table.locator('tbody tr td:nth-child(2)').allInnerTexts();
    assert.equal(first, 'never scanned');
    assert.match(second, /^invalid\n.+ letters, digits/);
    assert.match((await saved('Download Parquet'))[1], /^PAR1/);
    await drop(
      'large.csv',
      Array.from({ length: 1_200 }, (_, i) => `${i},n-${i}.com`),
    );
    const [name, text] = await saved('Download CSV');
    assert.deepEqual([name, text.split('\n').length], ['large-enriched.csv', 1_202]);
    await assertAccessible(page);
  });
});

describePages('segments', ({ answer, demo, inPage }) => {
  inPage('are saved from a search, compared and deleted', '/search', async (page) => {
    const totals: string[] = [];
    const form = page.getByRole('form', { name: 'Save as a segment' });
    for (const tld of ['com', 'de']) {
      await page.goto(`${demo().stack}/search?query=tld:${tld}`);
      await form.getByRole('textbox').fill(`own-${tld}`);
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByText(`segment:own-${tld}`).waitFor();
      totals.unshift(String((await answer<{ total: number }>(`/stack/v1/search?limit=1&query=tld:${tld}`)).total));
    }
    await form.getByRole('link', { name: 'Compare it' }).click();
    const row = page.getByRole('region', { name: 'Saved segments' }).getByRole('row', { name: /^own-com/ });
    await row.getByRole('link', { name: 'Use as b' }).click();
    const domains = page.getByRole('region', { name: 'Scores' }).locator('tbody td:nth-child(2)');
    await domains.first().waitFor();
    assert.deepEqual(await domains.allInnerTexts(), totals);
    assert.match(page.url(), /a=segment%3Aown-de&b=segment%3Aown-com$/);
    await assertAccessible(page);
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
  });
});

describePages('a watchlist', ({ inPage }) => {
  inPage('is made from a file, tested and deleted after a confirmation', '/watchlists', async (page) => {
    const buffer = Buffer.from('name,domain\nA,a.com\nB,foo_bar\nC,');
    await page.getByLabel('Or a file with').setInputFiles({ name: 'mine.csv', mimeType: 'text/csv', buffer });
    const skipped = page.getByText(/^2 rows skipped:foo_bar .* single word.* is empty/);
    await skipped.first().waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Own');
    await page.getByRole('button', { name: 'Add a channel' }).click();
    await page.getByLabel('Webhook', { exact: true }).fill('http://127.0.0.1:9/');
    await page.getByRole('button', { name: 'Create' }).click();
    const entry = page.getByRole('listitem').filter({ hasText: 'Own' });
    await entry.getByRole('button', { name: 'Test' }).click();
    const failed = page.getByText(/^Test: failed, not tried again.*1 attempt · only ports/);
    await failed.first().waitFor();
    for (const answer of ['Cancel', 'Delete']) {
      await entry.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: answer }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByText('This key has no watchlists.').waitFor();
  });
});
