// The chat when things go wrong: a hostile model, no key, no models, no connection, refusals, and answers that break off.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, hold, picture } from '../../support/web/browser.ts';
import { ANSWER, ask, CHAT, finished, inChat, questions, streamOf } from '../../support/web/chat-page.ts';
import { describePages } from '../../support/web/demo.ts';

const refusal = (status: number, code: string, message: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  json: { error: { code, message, type: 'x', param: null } },
});

describePages('chat-trouble', (get) => {
  const { demo } = get;
  describe('the chat in trouble', () => {
    it(
      'shows hostile Markdown as text: no script, no picture, no link but to the web',
      inChat(get, async (page) => {
        const hostile = [
          '<script>window.wasRun = 1</script>',
          '<img src="x" onerror="window.wasRun = 2">',
          '[script](javascript:window.wasRun=3) [data](data:text/html,hi) [file](/v1/models) [web](https://example.com/a)',
          '![pixel](https://example.com/pixel.png)',
          '- [ ] to be done',
          '```js\nconst a = "<b>";\n```',
          '| a | b |\n|:-:|--:|\n| 1 | 2 |',
        ].join('\n\n');
        await page.route(CHAT, (route) => route.fulfill(streamOf(hostile)));
        await ask(page, 'Be bad');
        assert.equal(await finished(page, 1), 'whole');
        await page.locator('.chat-text .hljs').waitFor();
        assert.equal(await page.evaluate(() => (window as { wasRun?: number }).wasRun), undefined);
        assert.equal(await page.locator('.chat-text').locator('script, img, iframe, input').count(), 0);
        const links = await page
          .locator('.chat-text a')
          .evaluateAll((all) => all.map((a) => [a.getAttribute('href'), a.getAttribute('rel')]));
        const rel = 'noopener noreferrer nofollow';
        assert.deepEqual(links, [
          ['https://example.com/a', rel],
          ['https://example.com/pixel.png', rel],
        ]);
        await assertAccessible(page);
      }),
    );

    it(
      'shows what would take too long to lay out as it was sent, and goes on',
      inChat(get, async (page) => {
        const text = `${'>'.repeat(100_000)}deep`;
        await page.route(CHAT, (route) => route.fulfill(streamOf(text)));
        await ask(page, 'Be bad');
        assert.equal(await finished(page, 1), 'whole');
        await page.getByText('Shown as it was sent').waitFor();
        assert.equal(await page.locator('.chat-text .chat-plain').textContent(), text);
        await page.unroute(CHAT);
        await page.getByRole('button', { name: 'New conversation' }).click();
        await ask(page, 'What is SPF?');
        assert.equal(await finished(page, 1), 'whole');
        await page.getByRole('link', { name: 'Be bad' }).click();
        await page.getByText('Shown as it was sent').waitFor();
      }),
    );

    it(
      'says that the page has failed, where a part of it cannot be loaded, and that nothing is lost',
      inChat(
        get,
        async (page) => {
          await page.getByText('This page has failed').waitFor();
          await assertAccessible(page);
        },
        { path: '/machines', before: (page) => page.route('**/assets/machines-*.js', (route) => route.abort()) },
      ),
    );

    it('keeps a question for which Enter came too early, and sends it once there are models', async () => {
      let release = () => {};
      const test = async (page: Page) => {
        await ask(page, 'What is DMARC?');
        await page.getByText('it is sent as soon as the models are known').waitFor();
        assert.equal(await page.getByLabel('Your question').inputValue(), 'What is DMARC?');
        assert.equal(await page.locator(ANSWER).count(), 0);
        release();
        assert.equal(await finished(page, 1), 'whole');
        assert.deepEqual(await questions(page), ['What is DMARC?']);
        assert.equal(await page.getByLabel('Your question').inputValue(), '');
      };
      const before = async (page: Page) => {
        release = await hold(page, '**/v1/models');
      };
      await inChat(get, test, { before })();
    });

    it(
      'leads a new reader from nothing to an answer: a free key at one press, and the question is not lost',
      inChat(
        get,
        async (page) => {
          await page.getByText('First, a key').waitFor();
          await ask(page, 'What is DMARC?');
          await page.getByText('it is sent as soon as there is a key').waitFor();
          const enough = refusal(429, 'rate_limit_exceeded', 'That was enough for today.', { 'retry-after': '7200' });
          await page.route('**/keys', (route) => route.fulfill(enough));
          await page.getByRole('button', { name: 'Get a free key' }).click();
          await page.getByText(/enough for today\. Try again from .+ \d\d:\d\d on\./).waitFor();
          await assertAccessible(page);
          await page.unroute('**/keys');
          let asked = 0;
          page.on('request', (request) => {
            if (request.url().endsWith('/keys')) asked += 1;
          });
          const release = await hold(page, '**/keys');
          await page.getByRole('button', { name: 'Get a free key' }).dblclick();
          release();
          assert.equal(await finished(page, 1), 'whole');
          assert.equal(asked, 1, 'a second press uses up no second key');
          await page.reload();
          assert.deepEqual(await questions(page), ['What is DMARC?']);
        },
        { key: undefined, allowed: [429] },
      ),
    );

    it(
      'says that a key is not known here, and takes another',
      inChat(
        get,
        async (page) => {
          await page.getByText('This key is not known here').waitFor();
          await ask(page, 'What is SPF?');
          await page.getByText('it is sent as soon as there is a key').waitFor();
          await page.getByLabel(/Another key/).fill(demo().inferenceKey);
          await page.getByRole('button', { name: 'Use it' }).click();
          assert.equal(await finished(page, 1), 'whole');
        },
        { key: 'sk-wrong', allowed: [401] },
      ),
    );

    it(
      'says that there is no connection, and sends what was asked when it is back',
      inChat(get, async (page) => {
        await page.getByRole('button', { name: 'What is DMARC?' }).waitFor();
        await page.context().setOffline(true);
        await page.getByText('You are offline.').waitFor();
        await ask(page, 'What is SPF?');
        await page.getByText('it is sent when you are online again').waitFor();
        await assertAccessible(page);
        await page.context().setOffline(false);
        assert.equal(await finished(page, 1), 'whole');
      }),
    );

    it(
      'says what to do about an answer that is too long, has to wait, lost its model or its connection',
      inChat(
        get,
        async (page) => {
          await ask(page, 'What is SPF?');
          assert.equal(await finished(page, 1), 'whole');
          await ask(page, 'again and '.repeat(110));
          assert.equal(await finished(page, 2), 'broken');
          await page.getByText('longer than the model can read').waitFor();
          await page.getByRole('button', { name: 'Ask without what was said before' }).waitFor();
          await page.getByRole('button', { name: 'New conversation' }).click();
          for (const [seconds, words] of [
            ['30', /In \d+ s\./],
            ['7200', /From .+ \d\d:\d\d on\./],
          ] as const) {
            const told = refusal(429, 'rate_limit_exceeded', 'Used up.', { 'retry-after': seconds });
            await page.route(CHAT, (route) => route.fulfill(told));
            if (seconds === '30') await ask(page, 'What is SPF?');
            else await page.getByRole('button', { name: 'Try again' }).click();
            await page.getByText(words).waitFor();
            await picture(page, 'chat-to-wait');
            await page.unroute(CHAT);
          }
          await page.route(CHAT, (route) => route.fulfill(refusal(404, 'model_not_found', 'No such model.')));
          await page.getByRole('button', { name: 'Try again' }).click();
          await page.getByText('This model is not there any more').waitFor();
          await page.unroute(CHAT);
          await page.route(CHAT, (route) => route.fulfill(streamOf('Half of', { isCut: true })));
          await page.getByRole('button', { name: 'Try again' }).click();
          await page.getByText('The connection was lost midway').waitFor();
          assert.match(await page.locator('.chat-text').innerText(), /Half of/);
          await assertAccessible(page);
          await page.unroute(CHAT);
          await page.getByRole('button', { name: 'Go on from here' }).click();
          assert.equal(await finished(page, 2), 'whole');
        },
        { allowed: [400, 429] },
      ),
    );
  });
});
