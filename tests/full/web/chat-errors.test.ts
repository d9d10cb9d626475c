// Failures of the chat: a hostile model, no key, no models, no connection, refusals, and interrupted answers.

import assert from 'node:assert/strict';
import { casesOf } from '../../support/vectors.ts';
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

describeChat('failures of the chat', (inChat, { demo }) => {
  inChat('shows hostile Markdown as text: no script, no image, no link except to the web', {}, async (page) => {
    const hostile = casesOf<string[]>('web', 'hostile Markdown').join('\n\n');
    await page.route(CHAT, (route) => route.fulfill(streamOf(hostile)));
    await answered(page, 'Be bad');
    await page.locator('.chat-text .hljs').waitFor();
    assert.equal(await page.evaluate(() => (window as { wasRun?: number }).wasRun), undefined);
    assert.equal(await page.locator('.chat-text').locator('script, img, iframe, input').count(), 0);
    const links = await page
      .locator('.chat-text a')
      .evaluateAll((all) => all.map((a) => [a.getAttribute('href'), a.getAttribute('rel')]));
    const rel = 'noopener noreferrer nofollow';
    assert.deepEqual(links.flat(), ['https://example.com/a', rel, 'https://example.com/pixel.png', rel]);
    await assertAccessible(page);
  });
  inChat('shows text that is too complex to render as plain text, and continues', {}, async (page) => {
    const text = `${'>'.repeat(100_000)}deep`;
    await page.route(CHAT, (route) => route.fulfill(streamOf(text)), { times: 1 });
    await answered(page, 'Be bad');
    await page.getByText('Shown as plain text').waitFor();
    assert.equal(await page.locator('.chat-text .chat-plain').textContent(), text);
    await page.getByRole('button', { name: 'New conversation' }).click();
    await answered(page, 'What is SPF?');
    await page.getByRole('link', { name: 'Be bad' }).click();
    await page.getByText('Shown as plain text').waitFor();
  });
  inChat('shows an error page if a part of it cannot be loaded', UNOPENED, async (page) => {
    await page.route('**/assets/machines-*.js', (route) => route.abort());
    await page.goto(`${demo().inference}/machines`);
    await page.getByText('Something went wrong').waitFor();
    await assertAccessible(page);
  });
  inChat('queues a question submitted too early, and sends it when the models are loaded', UNOPENED, async (page) => {
    const release = await hold(page, '**/v1/models');
    await page.goto(demo().inference);
    await ask(page, 'What is DMARC?');
    await page.getByText('sent as soon as the models are loaded').waitFor();
    assert.equal(await page.getByLabel('Your question').inputValue(), 'What is DMARC?');
    assert.equal(await page.locator('.chat-answer').count(), 0);
    release();
    await finished(page);
    assert.deepEqual(await questions(page), ['What is DMARC?']);
    assert.equal(await page.getByLabel('Your question').inputValue(), '');
  });
  inChat('leads a new user to a free key and an answer', { key: undefined, allowed: [429] }, async (page) => {
    await page.getByText('You need an API key').waitFor();
    await ask(page, 'What is DMARC?');
    await page.getByText('sent as soon as you set a valid API key').waitFor();
    const enough = refusal(429, 'rate_limit_exceeded', 'That was enough for today.', { 'retry-after': '7200' });
    await page.route('**/keys', (route) => route.fulfill(enough), { times: 1 });
    await page.getByRole('button', { name: 'Get a free key' }).click();
    await page.getByText(/enough for today\. Try again after .+ \d\d:\d\d\./).waitFor();
    await assertAccessible(page);
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/keys')) asked += 1;
    });
    const release = await hold(page, '**/keys');
    await page.getByRole('button', { name: 'Get a free key' }).dblclick();
    release();
    await finished(page);
    assert.equal(asked, 1, 'a second press creates no second key');
    await page.reload();
    assert.deepEqual(await questions(page), ['What is DMARC?']);
  });
  inChat('reports an invalid key, and accepts another', { key: 'sk-wrong', allowed: [401] }, async (page) => {
    await page.getByText('Invalid API key').waitFor();
    await ask(page, 'What is SPF?');
    await page.getByText('sent as soon as you set a valid API key').waitFor();
    await page.getByLabel(/Replace with/).fill(demo().inferenceKey);
    await page.getByRole('button', { name: 'Save' }).click();
    await finished(page);
  });
  inChat('reports a lost connection, and sends the queued question when it is back', {}, async (page) => {
    await page.getByRole('button', { name: 'What is DMARC?' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await ask(page, 'What is SPF?');
    await page.getByText('sent when you are online again').waitFor();
    await assertAccessible(page);
    await page.context().setOffline(false);
    await finished(page);
  });
  inChat('offers a remedy for each failed request', { allowed: [400, 429] }, async (page) => {
    await answered(page, 'What is SPF?');
    await ask(page, 'again and '.repeat(110));
    await finished(page, 2, 'broken');
    await page.getByText("exceeds the model's context length").waitFor();
    await page.getByRole('button', { name: 'Ask without earlier messages' }).waitFor();
    await page.getByRole('article').getByRole('link', { name: 'Start a new conversation' }).click();
    const toWait = (seconds: string) => refusal(429, 'rate_limit_exceeded', 'Used up.', { 'retry-after': seconds });
    const retry = page.getByRole('button', { name: 'Try again' });
    for (const [given, shown] of [
      [toWait('30'), /Try again in \d+ s\./],
      [toWait('7200'), /Try again after .+ \d\d:\d\d\./],
      [refusal(404, 'model_not_found', 'No such model.'), 'This model is no longer available'],
      [streamOf('Half of', { isCut: true }), 'The connection was lost'],
    ] as const) {
      await page.route(CHAT, (route) => route.fulfill(given), { times: 1 });
      await ((await retry.count()) > 0 ? retry.click() : ask(page, 'What is SPF?'));
      await page.getByText(shown).waitFor();
    }
    assert.match(await page.locator('.chat-text').innerText(), /Half of/);
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Continue from here' }).click();
    await finished(page, 2);
  });
});
