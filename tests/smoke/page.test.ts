// A built page in a real browser: the stack of a company, its receipt verified there, and nothing that a screen reader cannot use.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { company, startHarness } from '../../services/stack/src/test/harness.ts';
import { sharedInternet } from '../support/shared-internet.ts';
import { assertAccessible, assertReceiptHolds, openBrowser, settled, skip, visit } from '../support/web/browser.ts';

describe('the page of a domain', { skip }, () => {
  it('shows what the domain runs, and a receipt that holds', async () => {
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
});
