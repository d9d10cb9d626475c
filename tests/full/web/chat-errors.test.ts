// The chat when things go wrong: a hostile model, no key, no models, no connection, refusals, and answers that break off.
import assert from 'node:assert/strict';
import { assertAccessible, hold } from '../../support/web/browser.ts';
import { answered, ask, CHAT, describeChat, finished, questions, UNOPENED } from '../../support/web/chat-page.ts';

const refusal = (status: number, code: string, message: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  json: { error: { code, message, type: 'x', param: null } },
});

function streamOf(text: string, { isCut = false } = {}) {
  const chunk = (delta: object, reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  const end = isCut ? '' : `${chunk({}, 'stop')}data: [DONE]\n\n`;
  return { contentType: 'text/event-stream', body: chunk({ role: 'assistant', content: text }, null) + end };
}

describeChat('the chat in trouble', (inChat, { demo }) => {
  inChat('shows hostile Markdown as text: no script, no picture, no link but to the web', {}, async (page) => {
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
    await answered(page, 'Be bad');
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
  });
  inChat('shows what would take too long to lay out as it was sent, and goes on', {}, async (page) => {
    const text = `${'>'.repeat(100_000)}deep`;
    await page.route(CHAT, (route) => route.fulfill(streamOf(text)), { times: 1 });
    await answered(page, 'Be bad');
    await page.getByText('Shown as it was sent').waitFor();
    assert.equal(await page.locator('.chat-text .chat-plain').textContent(), text);
    await page.getByRole('button', { name: 'New conversation' }).click();
    await answered(page, 'What is SPF?');
    await page.getByRole('link', { name: 'Be bad' }).click();
    await page.getByText('Shown as it was sent').waitFor();
  });
  inChat('says that the page has failed, where a part of it cannot be loaded', UNOPENED, async (page) => {
    await page.route('**/assets/machines-*.js', (route) => route.abort());
    await page.goto(`${demo().inference}/machines`);
    await page.getByText('This page has failed').waitFor();
    await assertAccessible(page);
  });
  inChat('keeps a question for which Enter came too early, and sends it with the models', UNOPENED, async (page) => {
    const release = await hold(page, '**/v1/models');
    await page.goto(demo().inference);
    await ask(page, 'What is DMARC?');
    await page.getByText('it is sent as soon as the models are known').waitFor();
    assert.equal(await page.getByLabel('Your question').inputValue(), 'What is DMARC?');
    assert.equal(await page.locator('.chat-answer').count(), 0);
    release();
    await finished(page);
    assert.deepEqual(await questions(page), ['What is DMARC?']);
    assert.equal(await page.getByLabel('Your question').inputValue(), '');
  });
  inChat('leads a new reader to a free key and an answer', { key: undefined, allowed: [429] }, async (page) => {
    await page.getByText('First, a key').waitFor();
    await ask(page, 'What is DMARC?');
    await page.getByText('it is sent as soon as there is a key').waitFor();
    const enough = refusal(429, 'rate_limit_exceeded', 'That was enough for today.', { 'retry-after': '7200' });
    await page.route('**/keys', (route) => route.fulfill(enough), { times: 1 });
    await page.getByRole('button', { name: 'Get a free key' }).click();
    await page.getByText(/enough for today\. Try again from .+ \d\d:\d\d on\./).waitFor();
    await assertAccessible(page);
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/keys')) asked += 1;
    });
    const release = await hold(page, '**/keys');
    await page.getByRole('button', { name: 'Get a free key' }).dblclick();
    release();
    await finished(page);
    assert.equal(asked, 1, 'a second press uses up no second key');
    await page.reload();
    assert.deepEqual(await questions(page), ['What is DMARC?']);
  });
  inChat('says that a key is not known here, and takes another', { key: 'sk-wrong', allowed: [401] }, async (page) => {
    await page.getByText('This key is not known here').waitFor();
    await ask(page, 'What is SPF?');
    await page.getByText('it is sent as soon as there is a key').waitFor();
    await page.getByLabel(/Another key/).fill(demo().inferenceKey);
    await page.getByRole('button', { name: 'Use it' }).click();
    await finished(page);
  });
  inChat('says that there is no connection, and sends what was asked when it is back', {}, async (page) => {
    await page.getByRole('button', { name: 'What is DMARC?' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await ask(page, 'What is SPF?');
    await page.getByText('it is sent when you are online again').waitFor();
    await assertAccessible(page);
    await page.context().setOffline(false);
    await finished(page);
  });
  inChat('says what to do about an answer that cannot be had', { allowed: [400, 429] }, async (page) => {
    await answered(page, 'What is SPF?');
    await ask(page, 'again and '.repeat(110));
    await finished(page, 2, 'broken');
    await page.getByText('longer than the model can read').waitFor();
    await page.getByRole('button', { name: 'Ask without what was said before' }).waitFor();
    await page.getByRole('button', { name: 'New conversation' }).click();
    const toWait = (seconds: string) => refusal(429, 'rate_limit_exceeded', 'Used up.', { 'retry-after': seconds });
    const retry = page.getByRole('button', { name: 'Try again' });
    for (const [given, shown] of [
      [toWait('30'), /In \d+ s\./],
      [toWait('7200'), /From .+ \d\d:\d\d on\./],
      [refusal(404, 'model_not_found', 'No such model.'), 'This model is not there any more'],
      [streamOf('Half of', { isCut: true }), 'The connection was lost midway'],
    ] as const) {
      await page.route(CHAT, (route) => route.fulfill(given), { times: 1 });
      await ((await retry.count()) > 0 ? retry.click() : ask(page, 'What is SPF?'));
      await page.getByText(shown).waitFor();
    }
    assert.match(await page.locator('.chat-text').innerText(), /Half of/);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Go on from here' }).click();
    await finished(page, 2);
  });
});
