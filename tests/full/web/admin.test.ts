// Administration in a browser: log in, create a key, usage, revoke; on a phone and in the dark, under the pages' policy.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MODEL } from '../../../services/gateway/src/test/harness.ts';
import { startOnSharedEngine } from '../../../services/gateway/src/test/shared.ts';
import { assertAccessible, PHONE, sharedBrowser, skip, visit } from '../../support/web/browser.ts';

for (const [name, options] of [
  ['a desk', {}],
  ['a phone in the dark', { ...PHONE, colorScheme: 'dark' }],
] as const)
  it(`keys are created, used and revoked on the page of the administration, on ${name}`, { skip }, async () => {
    await using service = await startOnSharedEngine();
    const { keys, answers } = service.running.gateway;
    const { key } = await keys.create({ tier: 'unlimited', policy: { isAdmin: true }, label: 'operator' });
    await using page = await visit(await sharedBrowser(), `${service.base}/admin`, { ...options, allowed: [401, 403] });
    const logIn = async (text: string) => {
      await page.getByLabel('Admin key').fill(text);
      await page.getByRole('button', { name: 'Log in' }).click();
    };
    await logIn(service.key);
    await page.getByText('administration needs an admin key').waitFor();
    await assertAccessible(page);
    await logIn(key);
    const formOf = (name: string) =>
      page.locator('form').filter({ has: page.getByRole('button', { name, includeHidden: true }) });
    await page.getByText('Create a team').click();
    await formOf('Set limits').getByLabel('Name of the team').fill('research');
    await formOf('Set limits').getByLabel('Spend limit').fill('2.5');
    await formOf('Set limits').getByLabel('Warn at').fill('2');
    await page.getByRole('button', { name: 'Set limits' }).click();
    await page.getByRole('cell', { name: '2.5 per month; warning at 2' }).waitFor();
    await page.getByText('Set a price', { exact: true }).click();
    await page.getByLabel('Model or alias').fill('a/b');
    await page.getByLabel('Input', { exact: true }).fill('0.15');
    await page.getByLabel('Output').fill('x');
    await page.getByRole('button', { name: 'Set price' }).click();
    await page.getByText('A price is an amount').waitFor();
    await page.getByLabel('Output').fill('0.6');
    await page.getByRole('button', { name: 'Set price' }).click();
    await page.getByRole('cell', { name: '0.15' }).first().waitFor();
    await assertAccessible(page);
    await page.getByText('Create a key').click();
    const fields = formOf('Create key');
    await fields.getByLabel('Label').fill('<b>team</b>');
    await fields.getByLabel('Models, comma-separated').fill(MODEL);
    await fields.getByLabel('Spend limit').fill('zero');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('The spend limit is an amount above 0').waitFor();
    await fields.getByLabel('Spend limit').fill('');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('cell', { name: 'key.create' }).first().waitFor();
    const shown = page.locator('.command pre');
    await shown.waitFor();
    const created = { authorization: `Bearer ${await shown.innerText()}` };
    const body = { model: MODEL, messages: [{ role: 'user', content: 'What is DMARC?' }], max_tokens: 4 };
    const answer = await service.post('/v1/chat/completions', body, created);
    assert.equal(answer.status, 200);
    // A receipt is read once its usage is counted.
    await service.get(`/v1/receipts/${answer.headers.get('x-receipt-id')}`, created);
    assert.equal((await answers.usage({ since: '2000-01-01' })).length, 1);
    await page.getByLabel('By').selectOption('model');
    await page.getByRole('img', { name: /^Tokens by day: \d+ in 30 days$/ }).waitFor();
    await page.getByText('View as table').click();
    await page.getByRole('cell', { name: MODEL }).first().waitFor();
    await assertAccessible(page);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(width <= 0, `${width} pixels too wide`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    assert.equal((await download).suggestedFilename(), 'usage.csv');
    await page.getByRole('button', { name: 'Revoke <b>team</b>' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await service.get('/v1/models', created)).status, 200);
    await page.getByRole('button', { name: 'Revoke <b>team</b>' }).click();
    await page.getByRole('button', { name: 'Revoke key', exact: true }).click();
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    await page.getByRole('cell', { name: 'key.revoke' }).waitFor();
    assert.equal((await service.get('/v1/models', created)).status, 401);
    await page.getByRole('button', { name: 'Remove the price of a/b' }).click();
    await page.getByText('No prices yet.').waitFor();
    await page.getByRole('button', { name: 'Remove team research' }).click();
    await page.getByRole('button', { name: 'Remove team', exact: true }).click();
    await page.getByText('No teams yet.').waitFor();
    await page.reload();
    await page.getByLabel('Admin key').waitFor();
    const stored = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
    assert.ok(!stored.includes(key), 'the key is kept in memory only');
  });
