// The chat and its machines: asked, stopped, asked again, edited, kept; hostile text, what goes wrong and a killed worker have files of their own.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertAccessible, assertReceiptHolds, picture } from '../../support/web/browser.ts';
import { ask, CHAT, finished, inChat, questions, slowAnswers } from '../../support/web/chat-page.ts';
import { describePages } from '../../support/web/demo.ts';

describePages('chat', (get) => {
  describe('the chat', () => {
    it(
      'answers, tells how fast and by whom, checks the receipt, and keeps all of it over a reload',
      inChat(get, async (page) => {
        await page.getByRole('button', { name: 'What is DMARC?' }).click();
        assert.equal(await finished(page, 1), 'whole');
        const text = await page.locator('.chat-text').innerText();
        assert.match(text, /DMARC/);
        await page.getByText(/by worker/).waitFor();
        const meta = await page.locator('.chat-meta').innerText();
        assert.match(meta, /\d+ tokens · [\d,]+ tokens\/s · first after .+ by worker …\w{6}/);
        await assertReceiptHolds(page, 'Receipt and workers');
        const steps = 'content key signature leaf inclusion checkpoint receipt request answer'.split(' ');
        for (const step of steps) assert.ok(await page.locator('.chat-steps .good', { hasText: step }).count(), step);
        await picture(page, 'chat-conversation');
        await assertAccessible(page);
        await page.reload();
        assert.equal(await page.locator('.chat-text').innerText(), text);
      }),
    );

    it(
      'shows a receipt that was tampered with as one that does not hold',
      inChat(get, async (page) => {
        await ask(page, 'What is SPF?');
        assert.equal(await finished(page, 1), 'whole');
        await page.getByText(/by worker/).waitFor();
        await page.route('**/v1/receipts/*', async (route) => {
          const response = await route.fetch();
          const body = (await response.text()).replace(/"completion_tokens":\d+/, '"completion_tokens":1');
          await route.fulfill({ response, body });
        });
        await page.getByText('Receipt and workers').click();
        await page.getByRole('button', { name: 'Verify' }).click();
        await page.getByText('The receipt does not hold.').waitFor();
        assert.ok(await page.locator('.chat-steps .bad', { hasText: 'signature' }).count());
      }),
    );

    it(
      'stops at Escape and keeps what came; the focus and a screen reader are where they should be',
      inChat(
        get,
        async (page) => {
          const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
          const said = page.locator('main [role=status].hidden-text');
          await ask(page, 'What is DMARC?');
          await page.locator('.chat-text').waitFor();
          assert.equal(await focused(), 'Your question');
          assert.equal(await said.innerText(), 'The answer is being written.');
          await page.keyboard.press('Escape');
          assert.equal(await finished(page, 1), 'stopped');
          assert.ok(await page.getByText('Stopped here.').isVisible());
          assert.match(await said.innerText(), /^Stopped answer/);
          const part = await page.locator('.chat-text').innerText();
          assert.ok(part.length > 0);
          await page.getByRole('button', { name: 'Retry' }).focus();
          await page.keyboard.press('Enter');
          await page.getByRole('button', { name: 'Stop' }).waitFor();
          assert.equal(await focused(), 'Your question');
          assert.equal(await finished(page, 1), 'whole');
          const whole = await page.locator('.chat-text').innerText();
          assert.equal((await said.innerText()).replace(/\s+/g, ' '), `Answer: ${whole}`.replace(/\s+/g, ' '));
          assert.notEqual(whole, part);
          // What had come first is kept beside it.
          await page.getByText('2 of 2').waitFor();
          await page.getByRole('button', { name: 'Earlier version of this answer' }).press('Enter');
          assert.equal(await page.locator('.chat-text').innerText(), part);
          assert.equal(await focused(), 'Earlier version of this answer');
          await ask(page, 'What is SPF?');
          await page.getByRole('button', { name: 'Stop' }).click();
          assert.equal(await focused(), 'Your question');
        },
        { before: (page) => page.addInitScript(slowAnswers) },
      ),
    );

    it(
      'asks another question in place of one, and leads back to what followed the first',
      inChat(get, async (page) => {
        await ask(page, 'What is DMARC?');
        assert.equal(await finished(page, 1), 'whole');
        await ask(page, 'What is SPF?');
        assert.equal(await finished(page, 2), 'whole');
        await page.getByRole('button', { name: 'Edit this question' }).first().click();
        await page.getByText('What followed is kept').waitFor();
        await page.getByLabel('The question', { exact: true }).fill('What is DKIM?');
        await page.getByRole('button', { name: 'Ask this' }).click();
        assert.equal(await finished(page, 1), 'whole');
        assert.deepEqual(await questions(page), ['What is DKIM?']);
        await page.getByRole('button', { name: 'Earlier version of this question' }).click();
        assert.deepEqual(await questions(page), ['What is DMARC?', 'What is SPF?']);
        await page.reload();
        assert.deepEqual(await questions(page), ['What is DMARC?', 'What is SPF?']);
        await assertAccessible(page);
      }),
    );

    it(
      'keeps several conversations, renames and deletes them',
      inChat(get, async (page) => {
        for (const question of ['What is SPF?', 'What is Strata?']) {
          await page.getByRole('button', { name: 'New conversation' }).click();
          await ask(page, question);
          assert.equal(await finished(page, 1), 'whole');
        }
        const list = page.getByRole('navigation', { name: 'Conversations' });
        await list.getByRole('button', { name: 'Rename What is SPF?' }).click();
        await page.getByLabel('Name of the conversation').fill('Senders');
        await page.keyboard.press('Enter');
        // The focus moves once the page is drawn anew.
        const focusIs = (name: string) =>
          page.waitForFunction((wanted) => {
            const { activeElement: element } = document;
            return (element?.getAttribute('aria-label') ?? element?.textContent) === wanted;
          }, name);
        await focusIs('Rename Senders');
        await page.reload();
        assert.deepEqual(await list.getByRole('link').allInnerTexts(), ['What is Strata?', 'Senders']);
        await list.getByRole('link', { name: 'Senders' }).click();
        await page.getByRole('heading', { level: 1, name: 'Senders' }).waitFor();
        await list.getByRole('button', { name: 'Delete Senders' }).click();
        await page.keyboard.press('Escape');
        await focusIs('Delete Senders');
        await page.keyboard.press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
        // It was the one that was shown.
        await focusIs('Your question');
        assert.deepEqual(await list.getByRole('link').allInnerTexts(), ['What is Strata?']);
        await list.getByRole('button', { name: 'Delete all' }).click();
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
        await page.reload();
        assert.equal(await list.getByRole('link').count(), 0);
      }),
    );

    it(
      'sends the parameters that were set, and says which ones the service would not take',
      inChat(get, async (page) => {
        await page.getByRole('button', { name: 'Parameters' }).click();
        await page.getByLabel('System prompt').fill('Be short.');
        await page.getByLabel('Temperature').fill('0');
        await page.getByLabel('Most tokens').fill('5');
        await page.getByLabel('Top p').fill('7');
        await page.getByText('A number from 0 to 1; this one is not sent.').waitFor();
        await assertAccessible(page);
        const sent = page.waitForRequest(CHAT);
        await ask(page, 'What is DMARC?');
        const body = (await sent).postDataJSON();
        assert.deepEqual(body.messages[0], { role: 'system', content: 'Be short.' });
        assert.deepEqual([body.temperature, body.max_tokens, 'seed' in body, 'top_p' in body], [0, 5, false, false]);
        assert.equal(await finished(page, 1), 'whole');
        await page.getByText('The answer ended at its limit of tokens.').waitFor();
      }),
    );
  });
});
