// The chat and its machines: asked, stopped, asked again, edited, kept, hostile text, and an answer whose worker is killed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { PageTests } from '../web.test.ts';
import { assertAccessible, assertLooks, type Demo, picture, settled, visit } from './browser.ts';

const ANSWER = '.chat-answer';

/** An answer of the demo's model takes a blink: here each piece of it comes a little later, as from a large model. */
function slowAnswers(waitMs: number): void {
  const ask = window.fetch;
  window.fetch = async (input, init) => {
    const response = await ask(input, init);
    if (!String(input).endsWith('/chat/completions') || !response.body) return response;
    const lines = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TransformStream<string, string>({
        async transform(text, controller) {
          for (const event of text.split(/(?<=\n\n)/)) {
            await new Promise((resolve) => setTimeout(resolve, waitMs));
            controller.enqueue(event);
          }
        },
      }),
    );
    return new Response(lines.pipeThrough(new TextEncoderStream()), response);
  };
}

/** An answer as a hostile model would give it. */
const streamOf = (text: string) =>
  [
    { choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n');

async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your question').fill(question);
  // Nothing is sent before the models are known, which a busy machine is slow to tell; some tests have none.
  await page
    .locator('button[type=submit]:enabled')
    .filter({ hasText: 'Send' })
    .waitFor({ timeout: 5_000 })
    .catch(() => {});
  await page.keyboard.press('Enter');
}

/** Waits until the last answer is over; its state. */
async function finished(page: Page, count: number): Promise<string> {
  await page.waitForFunction(
    (wanted) => {
      const answers = [...document.querySelectorAll<HTMLElement>('.chat-answer')];
      return answers.length === wanted && answers.at(-1)?.dataset.state !== 'running';
    },
    count,
    { timeout: 30_000 },
  );
  return (await page.locator(ANSWER).last().getAttribute('data-state')) ?? '';
}

const open = ({ inference, inferenceKey }: Demo, browser: Browser, path = '/', allowed: readonly number[] = []) =>
  visit(browser, `${inference}${path}`, { key: inferenceKey }, allowed);

/** The service says 404 for a receipt that is not written yet. */
const EARLY = [404];

export const tests: PageTests = ({ browser, demo }) => {
  describe('the chat', () => {
    it('answers, tells how fast and by whom, checks the receipt, and keeps all of it over a reload', async () => {
      await using visited = await open(demo(), browser(), '/', EARLY);
      const { page, trouble } = visited;
      await page.getByRole('button', { name: 'What is DMARC?' }).click();
      assert.equal(await finished(page, 1), 'whole');
      const text = await page.locator('.chat-text').innerText();
      assert.match(text, /DMARC/);
      await page.getByText(/by worker/).waitFor();
      assert.match(
        await page.locator('.chat-meta').innerText(),
        /\d+ tokens · [\d,]+ tokens\/s · first after .+ by worker …\w{6}/,
      );
      await page.getByText('Receipt and workers').click();
      await page.getByRole('button', { name: 'Verify' }).click();
      await page.getByText('The receipt holds').waitFor();
      for (const step of ['content', 'key', 'signature', 'leaf', 'inclusion', 'checkpoint', 'request', 'answer'])
        assert.ok(await page.locator('.chat-steps .good', { hasText: step }).count(), step);
      await picture(page, 'chat-conversation');
      await assertAccessible(page);
      await page.reload();
      assert.equal(await page.locator('.chat-text').innerText(), text);
      assert.deepEqual(trouble, []);
    });

    it('shows a receipt that was tampered with as one that does not hold', async () => {
      await using visited = await open(demo(), browser(), '/', EARLY);
      const { page } = visited;
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
    });

    it('stops at Escape and keeps what came; asks again; an edit drops what followed', async () => {
      await using visited = await visit(browser(), 'about:blank', { key: demo().inferenceKey }, EARLY);
      const { page } = visited;
      await page.addInitScript(slowAnswers, 120);
      await page.goto(demo().inference);
      await ask(page, 'What is DMARC?');
      await page.locator('.chat-text').waitFor();
      await page.keyboard.press('Escape');
      assert.equal(await finished(page, 1), 'stopped');
      assert.ok(await page.getByText('Stopped here.').isVisible());
      const part = await page.locator('.chat-text').innerText();
      assert.ok(part.length > 0);
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('button', { name: 'Stop' }).waitFor();
      assert.equal(await finished(page, 1), 'whole');
      const whole = await page.locator('.chat-text').innerText();
      assert.ok(whole.length > part.length);
      await ask(page, 'What is SPF?');
      assert.equal(await finished(page, 2), 'whole');
      await page.getByRole('button', { name: 'Edit this question' }).first().click();
      await page.getByText('The answer and the 2 messages after it will be dropped.').waitFor();
      await page.getByLabel('The question', { exact: true }).fill('What is DKIM?');
      await page.getByRole('button', { name: 'Drop them and ask' }).click();
      assert.equal(await finished(page, 1), 'whole');
      assert.deepEqual(await page.locator('.chat-question .chat-plain').allInnerTexts(), ['What is DKIM?']);
    });

    it('keeps several conversations, renames and deletes them', async () => {
      await using visited = await open(demo(), browser(), '/', EARLY);
      const { page } = visited;
      for (const question of ['What is SPF?', 'What is Strata?']) {
        await page.getByRole('button', { name: 'New conversation' }).click();
        await ask(page, question);
        assert.equal(await finished(page, 1), 'whole');
      }
      const list = page.getByRole('navigation', { name: 'Conversations' });
      await list.getByRole('button', { name: 'Rename What is SPF?' }).click();
      await page.getByLabel('Name of the conversation').fill('Senders');
      await page.keyboard.press('Enter');
      await page.reload();
      assert.deepEqual(await list.getByRole('link').allInnerTexts(), ['What is Strata?', 'Senders']);
      await list.getByRole('link', { name: 'Senders' }).click();
      await page.getByRole('heading', { level: 1, name: 'Senders' }).waitFor();
      await list.getByRole('button', { name: 'Delete Senders' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      assert.deepEqual(await list.getByRole('link').allInnerTexts(), ['What is Strata?']);
      await list.getByRole('button', { name: 'Delete all' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.reload();
      assert.equal(await list.getByRole('link').count(), 0);
    });

    it('shows hostile Markdown as text: no script, no picture, no link but to the web', async () => {
      await using visited = await open(demo(), browser(), '/', EARLY);
      const { page, trouble } = visited;
      const hostile = [
        '<script>window.wasRun = 1</script>',
        '<img src="x" onerror="window.wasRun = 2">',
        '[script](javascript:window.wasRun=3) [data](data:text/html,hi) [file](/v1/models) [web](https://example.com/a)',
        '![pixel](https://example.com/pixel.png)',
        '- [ ] to be done',
        '```js\nconst a = "<b>";\n```',
        '| a | b |\n|:-:|--:|\n| 1 | 2 |',
      ].join('\n\n');
      await page.route('**/v1/chat/completions', (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: streamOf(hostile) }),
      );
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
      assert.deepEqual(trouble, []);
    });

    it('says in words what is wrong: no key, a wrong one, too long, to wait, cut off midway', async () => {
      await using newcomer = await visit(browser(), demo().inference);
      await newcomer.page.getByText('First, a key').waitFor();
      assert.deepEqual(newcomer.trouble, []);
      await using stranger = await visit(browser(), demo().inference, { key: 'sk-wrong' }, [401]);
      await stranger.page.getByText('This key is not known here').waitFor();

      await using visited = await open(demo(), browser(), '/', [...EARLY, 400, 429]);
      const { page } = visited;
      await ask(page, 'What is SPF?');
      assert.equal(await finished(page, 1), 'whole');
      await ask(page, 'again and '.repeat(110));
      assert.equal(await finished(page, 2), 'broken');
      await page.getByText('longer than the model can read').waitFor();
      await page.getByRole('button', { name: 'Ask without what was said before' }).waitFor();
      await page.route('**/v1/chat/completions', (route) =>
        route.fulfill({
          status: 429,
          headers: { 'retry-after-ms': '30000' },
          json: { error: { code: 'rate_limit_exceeded', message: 'Used up.' } },
        }),
      );
      await page.getByRole('button', { name: 'New conversation' }).click();
      await ask(page, 'What is SPF?');
      await page.getByText(/In \d+ s\./).waitFor();
      await page.unroute('**/v1/chat/completions');
      await page.route('**/v1/chat/completions', (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: `${streamOf('Half of').split('\n\n')[0]}\n\n` }),
      );
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('The connection was lost midway').waitFor();
      assert.match(await page.locator('.chat-text').innerText(), /Half of/);
      await page.unroute('**/v1/chat/completions');
      await page.getByRole('button', { name: 'Go on from here' }).click();
      assert.equal(await finished(page, 2), 'whole');
    });

    it('sends the parameters that were set', async () => {
      await using visited = await open(demo(), browser(), '/', EARLY);
      const { page } = visited;
      await page.getByRole('button', { name: 'Parameters' }).click();
      await page.getByLabel('System prompt').fill('Be short.');
      await page.getByLabel('Temperature').fill('0');
      await page.getByLabel('Most tokens').fill('5');
      const sent = page.waitForRequest('**/v1/chat/completions');
      await ask(page, 'What is DMARC?');
      const body = (await sent).postDataJSON();
      assert.deepEqual(body.messages[0], { role: 'system', content: 'Be short.' });
      assert.deepEqual([body.temperature, body.max_tokens, 'seed' in body], [0, 5, false]);
      assert.equal(await finished(page, 1), 'whole');
      await page.getByText('The answer ended at its limit of tokens.').waitFor();
    });

    it('looks right: empty, with a conversation, and the machines', async () => {
      const { inference, inferenceKey: key } = demo();
      await assertLooks(browser(), inference, { key, name: 'chat' });
      await assertLooks(browser(), `${inference}/machines`, { name: 'machines' });
      await using phone = await visit(browser(), inference, { key, width: 390, height: 844 }, EARLY);
      const { page } = phone;
      await ask(page, 'What is DMARC?');
      assert.equal(await finished(page, 1), 'whole');
      await picture(page, 'chat-conversation-phone');
      await page.getByRole('button', { name: 'Conversations' }).click();
      await page.getByRole('navigation', { name: 'Conversations' }).waitFor();
      await assertAccessible(page);
    });

    it('gives an answer whole though its worker is killed, and shows who went', async (t) => {
      const { workerPids = [], inference, inferenceKey } = demo();
      if (workerPids.length < 2) {
        t.skip('the demo is not ours to break');
        return;
      }
      await using machines = await visit(browser(), `${inference}/machines`);
      await machines.page.waitForFunction(() => document.querySelectorAll('.chat-workers tbody tr').length === 2);
      await using visited = await visit(browser(), inference, { key: inferenceKey }, EARLY);
      const { page } = visited;
      await settled(page);
      await page.getByRole('button', { name: 'Parameters' }).click();
      await page.getByLabel('Temperature').fill('2');
      await page.getByLabel('Most tokens').fill('200');
      const { peers } = (await (await fetch(`${inference}/network`)).json()) as {
        readonly peers: readonly { readonly peer: string; readonly connected_since: string }[];
      };
      const inOrder = peers.toSorted((a, b) => a.connected_since.localeCompare(b.connected_since));
      const sent = page.waitForResponse('**/v1/chat/completions');
      await ask(page, 'What is DMARC?');
      await sent;
      const report = (await (await fetch(`${inference}/network`)).json()) as {
        readonly peers: readonly { readonly peer: string; readonly running: number }[];
      };
      const busy = report.peers.find(({ running }) => running > 0)?.peer ?? inOrder[0]?.peer;
      const [first = 0, second = 0] = workerPids;
      process.kill(busy === inOrder[1]?.peer ? second : first, 'SIGKILL');
      assert.equal(await finished(page, 1), 'whole');
      await page.getByText(/by workers? /).waitFor();
      const handOvers = await page.locator('.chat-handover').allInnerTexts();
      t.diagnostic(handOvers.length === 0 ? 'the answer was over before its worker' : handOvers.join(' '));
      // It is started again after two seconds, so that the word beside it may be gone by now.
      await machines.page.getByText(/Worker …\w{6} has gone\./).waitFor({ timeout: 15_000 });
      await picture(machines.page, 'machines-failover');
      await picture(page, 'chat-failover');
      await ask(page, 'What is SPF?');
      assert.equal(await finished(page, 2), 'whole');
      assert.deepEqual(machines.trouble, []);
    });
  });
};
