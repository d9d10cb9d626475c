// What the tests of the chat share: a page of it that fails with what goes wrong in it, asking, and answers as a test wants them.
import type { Page } from 'playwright-core';
import { type VisitOptions, visit } from './browser.ts';
import type { Pages } from './demo.ts';

export const ANSWER = '.chat-answer';
/** The service answers 404 for a receipt that is not written yet. */
const EARLY = 404;

interface ChatOptions extends VisitOptions {
  readonly path?: string;
  /** Prepares the page before the chat is opened in it. */
  readonly before?: (page: Page) => Promise<unknown>;
}

/** A test with a page of the chat, with the demo's key; errors of the console and violations of the policy fail it. */
export function inChat({ browser, demo }: Pages, test: (page: Page) => Promise<void>, options: ChatOptions = {}) {
  return async () => {
    const { path = '/', before, allowed = [], ...more } = options;
    const { inference, inferenceKey: key } = demo();
    // Some page of the same origin, where nothing runs yet.
    const first = inference + (before ? '/favicon.svg' : path);
    await using page = await visit(browser(), first, { key, ...more, allowed: [EARLY, ...allowed] });
    if (before) {
      await before(page);
      await page.goto(inference + path);
    }
    await test(page);
  };
}

/** Writes a question and presses Enter: it goes at once, or when it can. */
export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your question').fill(question);
  await page.keyboard.press('Enter');
}

/** Waits until the last of so many answers is over; its state. */
export async function finished(page: Page, count: number): Promise<string> {
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

/** All that is asked in the conversation that is shown; waits for the first. */
export async function questions(page: Page): Promise<string[]> {
  const shown = page.locator('.chat-question .chat-plain');
  await shown.first().waitFor();
  return shown.allInnerTexts();
}

/** An answer of the demo's model takes a blink: in such a page each piece of it comes a little later, as from a large model. */
export function slowAnswers(): void {
  const ask = window.fetch;
  window.fetch = async (input, init) => {
    const response = await ask(input, init);
    if (!String(input).endsWith('/chat/completions') || !response.body) return response;
    const lines = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TransformStream<string, string>({
        async transform(text, controller) {
          for (const event of text.split(/(?<=\n\n)/)) {
            await new Promise((resolve) => setTimeout(resolve, 60));
            controller.enqueue(event);
          }
        },
      }),
    );
    return new Response(lines.pipeThrough(new TextEncoderStream()), response);
  };
}

export const CHAT = '**/v1/chat/completions';

/** A stream that says this and ends as it should, or breaks off. */
export function streamOf(text: string, { isCut = false } = {}) {
  const chunks = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  return { contentType: 'text/event-stream', body: isCut ? (chunks[0] ?? '') : `${chunks.join('')}data: [DONE]\n\n` };
}
