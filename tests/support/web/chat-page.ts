// What the tests of the chat share: a page of it that fails with what goes wrong in it, asking, and answers as a test wants them.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { untilAnswer } from '../until.ts';
import { type VisitOptions, visit } from './browser.ts';
import { describePages, type Pages } from './demo.ts';

type Options = VisitOptions & { readonly path?: string };
type ChatTest = (title: string, options: Options, test: (page: Page, t: TestContext) => Promise<void>) => void;

/** Tests in pages of the chat, with the demo's key; errors of the console and violations of the policy fail them. */
export function describeChat(name: string, tests: (inChat: ChatTest, pages: Pages) => void): void {
  describePages(name, (pages) => {
    const inChat: ChatTest = (title, { path = '/', allowed = [], ...more }, test) =>
      it(title, async (t) => {
        const { inference, inferenceKey: key } = pages.demo();
        // The service answers 404 for a receipt that is not written yet.
        const expected = { key, ...more, allowed: [404, ...allowed] };
        await using page = await visit(pages.browser(), inference + path, expected);
        await test(page, t);
      });
    tests(inChat, pages);
  });
}

/** A page of the same origin, where nothing runs yet: a test prepares it and goes to the chat. */
export const UNOPENED = { path: '/favicon.svg' };

/** Writes a question and presses Enter: it goes at once, or when it can. */
export async function ask(page: Page, question: string): Promise<void> {
  await page.getByLabel('Your question').fill(question);
  await page.keyboard.press('Enter');
}

/** Waits until the last of so many answers is over, in this state. */
export async function finished(page: Page, count = 1, expected = 'whole'): Promise<void> {
  const ask = () =>
    page.locator('.chat-answer').evaluateAll((all) => all.map((each) => (each as HTMLElement).dataset.state));
  const isOver = (states: readonly unknown[]) => states.length === count && states.at(-1) !== 'running';
  assert.equal((await untilAnswer('the last answer is over', ask, isOver)).at(-1), expected);
}

/** Asks a question and waits for the end of its answer, the last of so many. */
export async function answered(page: Page, question: string, count = 1): Promise<void> {
  await ask(page, question);
  await finished(page, count);
}

/** All that is asked in the conversation that is shown; waits for the first. */
export async function questions(page: Page): Promise<string[]> {
  const shown = page.locator('.chat-question .chat-plain');
  await shown.first().waitFor();
  return shown.allInnerTexts();
}

export const CHAT = '**/v1/chat/completions';
