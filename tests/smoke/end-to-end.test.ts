// The service as a client sees it: scan, answer, verified receipt, CSV with its receipt, event stream, a page in a real browser.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StackClient, verifyBody } from '@strata/client';
import { company, moveDns, openStream, sharedInternet, startHarness } from '../../services/stack/src/test/index.ts';
import { assertAccessible, assertReceiptHolds, openBrowser, settled, skip, visit } from '../support/web/browser.ts';

const HOUR_MS = 3_600_000;

it('the stack service scans a company, gives answers whose receipts verify, and publishes its migration', async () => {
  const internet = await sharedInternet();
  let now = Date.parse('2026-03-01T00:00:00Z');
  await using service = await startHarness({ internet, world: { now: () => new Date(now) } });
  const key = await service.newKey();
  const client = new StackClient({ baseUrl: service.base, key });
  await service.scan(...internet.domains().slice(0, 20));
  await service.running.updateLoop.run();

  const domain = company(internet, 0);
  const answer = await client.get('/stack/v1/domains/{domain}', { path: { domain } });
  const visible = internet.truth(domain).services.filter(({ isVisible }) => isVisible);
  const found = new Set(answer.body.services.map(({ category }) => category));
  assert.ok(visible.some(({ category }) => found.has(category as never)));
  assert.ok((await client.verify(answer)).ok);
  const altered = { ...answer, text: answer.text.replace(domain, `${domain}x`) };
  assert.equal((await client.verify(altered)).failedStep, 'signature');
  const refused = await service.get('/stack/v1/domains/co.uk');
  assert.equal(refused.status, 400);
  assert.ok((await verifyBody(refused.text, { baseUrl: service.base })).ok, 'problems have receipts too');

  const csv = await client.get('/stack/v1/security/export.csv', { query: {} });
  assert.match(csv.body, /^domain,sector,score,grade/);
  assert.ok((await client.verify(csv)).ok);

  await using stream = await openStream(`${service.base}/stack/v1/stream?types=migration`, { key });
  const moved = moveDns(internet);
  await service.scan(moved.domain);
  for (const hours of [24, 7]) {
    now += hours * HOUR_MS;
    await service.scan(moved.domain);
  }
  await service.running.updateLoop.run();
  const { data } = await stream.next('migration');
  const change = { from_id: moved.from, to_id: moved.to };
  assert.partialDeepStrictEqual(JSON.parse(data), { domain: moved.domain, change });
  assert.ok((await verifyBody(data, { baseUrl: service.base })).ok);
});

it('the stack service shows in a page what a domain runs, and a receipt that holds', { skip }, async () => {
  const internet = await sharedInternet();
  await using service = await startHarness({ internet });
  const domain = company(internet, 1);
  await service.scan(domain);
  const { body } = await service.get(`/stack/v1/domains/${domain}`);
  const browser = await openBrowser();
  try {
    await using page = await visit(browser, `${service.base}/domain/${domain}`, { key: await service.newKey() });
    await page.getByRole('heading', { level: 1, name: domain }).waitFor();
    await settled(page);
    const stack = page.getByRole('region', { name: 'Stack', exact: true });
    const text = await stack.innerText();
    for (const { provider } of body.services as { provider: string }[]) assert.ok(text.includes(provider), provider);
    await assertReceiptHolds(stack, 'API and receipt');
    await assertAccessible(page);
  } finally {
    await browser.close();
  }
});
