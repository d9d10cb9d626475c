// The way of somebody who knows nothing of this and has a browser alone: a key, a history, a receipt, lost customers, a chat answer.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertAccessible, picture, settled } from '../../support/web/browser.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('newcomer', ({ demo, open }) => {
  for (const [name, size] of [['wide', {}] as const, ['phone', { width: 390, height: 844 }] as const])
    it(`leads a newcomer from the landing page to a chat answer by clicks alone, ${name}`, async () => {
      await using page = await open('/', { key: undefined, ...size });
      const stored = (of: string) => page.evaluate((place) => localStorage.getItem(place), of);
      const openPage = async (title: string) => {
        const menu = page.getByRole('button', { name: 'Menu' });
        if (await menu.isVisible()) await menu.click();
        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: title, exact: true }).click();
      };

      // A key, and a receipt that holds.
      await page.getByRole('button', { name: 'Get a free key' }).click();
      await page.getByText('of 100 points').waitFor();
      assert.match((await stored('strata-stack-key')) ?? '', /^ssk_/);
      await page.getByRole('button', { name: 'Verify' }).first().click();
      await page.getByText('The receipt holds').waitFor();

      // A domain's history.
      await page.getByRole('link', { name: 'Evidence and history' }).click();
      await page.waitForURL(/\/domain\//);
      await settled(page);
      await picture(page, `newcomer-domain-${name}`);
      const toHistory = page.getByRole('link', { name: /History/ });
      await toHistory.first().click();
      const history = page.getByRole('region', { name: 'History' });
      await history.getByRole('listitem').first().waitFor();

      // Whom a provider lost, and where they went.
      await openPage('Migrations');
      await page.waitForURL(/\/migrations/);
      await settled(page);
      await page.locator('main a[href^="/provider/"]:visible').first().click();
      await page.waitForURL(/\/provider\//);
      await page.getByRole('link', { name: 'Lost customers' }).first().click();
      await page.getByRole('heading', { name: /^\d[\d,]* domains? left since/ }).waitFor();
      await picture(page, `newcomer-lost-${name}`);
      const went = page.getByRole('row').nth(1);
      await went.locator('a[href^="/domain/"]').first().waitFor();
      assert.match((await went.textContent()) ?? '', /\w/);

      // How to begin says where the chat is, and that its key is another.
      await openPage('Get started');
      const card = page.getByRole('region', { name: '4. Chat' });
      assert.equal(await card.getByRole('link').getAttribute('href'), demo().inference);
      assert.match((await card.textContent()) ?? '', /keys of its own[\s\S]*\/keys[\s\S]*\/v1/);
      await card.scrollIntoViewIfNeeded();
      await picture(page, `newcomer-start-${name}`);

      // A chat answer, of the other service, with a key of that.
      const chat = page.getByRole('banner').getByRole('link', { name: 'Chat', exact: true });
      if (await chat.isVisible()) await chat.click();
      else await openPage('Chat');
      await page.waitForURL((url) => url.origin === new URL(demo().inference).origin);
      await page.getByRole('button', { name: 'Get a free key' }).click();
      await page.getByRole('button', { name: 'What is DMARC?' }).click();
      assert.match((await stored('strata-inference-key')) ?? '', /^sk-/);
      await page.locator('.chat-answer[data-state="whole"]').waitFor({ timeout: 30_000 });
      assert.match((await page.locator('.chat-answer').first().textContent()) ?? '', /DMARC/);
      await picture(page, `newcomer-chat-${name}`);
      await assertAccessible(page);

      // And back.
      await page.getByRole('link', { name: 'Explorer', exact: true }).click();
      await page.waitForURL(`${demo().stack}/`);
    });
});
