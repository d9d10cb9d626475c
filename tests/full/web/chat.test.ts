// The chat and its machines: ask, stop, retry, edit, reload, and failover when a worker is killed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { untilAnswer } from '../../support/until.ts';
import { assertAccessible, assertReceiptHolds, picture, settled, visit } from '../../support/web/browser.ts';
import { answered, ask, CHAT, describeChat, finished, questions, UNOPENED } from '../../support/web/chat-page.ts';

/** The demo's model answers immediately: this holds what follows the first text until the answer is stopped, or `release`. */
function heldAnswers(): void {
  const ask = window.fetch;
  window.fetch = async (input, init) => {
    const response = await ask(input, init);
    if (!String(input).endsWith('/chat/completions') || !response.body) return response;
    let events = 0;
    const released = new Promise((resolve) => {
      for (const target of [window, init?.signal])
        target?.addEventListener(target === window ? 'release' : 'abort', resolve);
    });
    const lines = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TransformStream<string, string>({
        async transform(text, controller) {
          for (const event of text.split(/(?<=\n\n)/)) {
            events += 1;
            // The first has the role, a few more have text.
            if (events > 4) await released;
            controller.enqueue(event);
          }
        },
      }),
    );
    return new Response(lines.pipeThrough(new TextEncoderStream()), response);
  };
}

interface Report {
  readonly peers: readonly { readonly peer: string; readonly connected_since: string; readonly running: number }[];
}

/** Processes alternately stop and run for these times, so that a small model is as slow as a large one. */
const STOPPED_MS = 100;
const RUNNING_MS = 5;

/** A process and its children: a worker's engine is a separate process (Linux, `proc(5)`). */
function withChildren(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return [pid, ...children.filter(Boolean).map(Number)];
}

/** Runs workers intermittently; ignores processes that have ended. */
function slowed(workers: readonly number[]): Disposable {
  const pids = workers.flatMap(withChildren);
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // The test killed it.
      }
    }
  };
  const toggle = () => {
    isStopped = !isStopped;
    signal(isStopped ? 'SIGSTOP' : 'SIGCONT');
    timer = setTimeout(toggle, isStopped ? STOPPED_MS : RUNNING_MS);
  };
  toggle();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal('SIGCONT');
    },
  };
}

/** Waits until the element with this name has the focus, which moves after the next render. */
const focusIs = (page: Page, name: string) =>
  page.waitForFunction((wanted) => {
    const { activeElement: element } = document;
    return (element?.getAttribute('aria-label') ?? element?.textContent) === wanted;
  }, name);

const isWriting = async (page: Page): Promise<boolean> =>
  (await page.locator('[data-state=running] .chat-text').count()) === 1;

/** The worker that generates the answer; undefined if the answer ends before the workers report their load. */
async function writerOf(page: Page, report: () => Promise<Report>): Promise<string | undefined> {
  await page.locator('.chat-text').waitFor();
  while (await isWriting(page)) {
    const busy = (await report()).peers.filter(({ running }) => running > 0);
    if (busy.length === 1 && (await isWriting(page))) return busy[0]?.peer;
    await sleep(20);
  }
  return undefined;
}

/** At a high temperature an answer may end after a few tokens: then another question is asked. */
const QUESTIONS = 10;

describeChat('the chat', (inChat, { browser, demo }) => {
  inChat('answers with speed, worker and receipt, and restores all after a reload', {}, async (page) => {
    await page.getByRole('button', { name: 'What is DMARC?' }).click();
    await finished(page);
    await page.getByText(/by worker/).waitFor();
    // Markdown is loaded and rendered after the text.
    await settled(page);
    const text = await page.locator('.chat-text').innerText();
    assert.match(text, /DMARC/);
    const meta = await page.locator('.chat-meta').innerText();
    assert.match(meta, /\d+ tokens · [\d,]+ tokens\/s · first token after .+ by worker …\w{6}/);
    await assertReceiptHolds(page, 'Receipt and workers');
    const steps = 'content key signature leaf inclusion checkpoint consistency receipt request answer'.split(' ');
    for (const step of steps) assert.ok(await page.locator('.steps .good', { hasText: step }).count(), step);
    await picture(page, 'chat-conversation');
    await assertAccessible(page);
    await page.reload();
    await settled(page);
    assert.equal(await page.locator('.chat-text').innerText(), text);
  });
  inChat('shows a receipt that was tampered with as invalid', {}, async (page) => {
    await answered(page, 'What is SPF?');
    await page.getByText(/by worker/).waitFor();
    await page.route('**/v1/receipts/*', async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/"completion_tokens":\d+/, '"completion_tokens":1');
      await route.fulfill({ response, body });
    });
    await page.getByText('Receipt and workers').click();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('The receipt is invalid.').waitFor();
    assert.ok(await page.locator('.steps .bad', { hasText: 'signature' }).count());
  });
  inChat('stops at Escape and keeps the received text, with correct focus and status', UNOPENED, async (page) => {
    await page.addInitScript(heldAnswers);
    await page.goto(demo().inference);
    const status = page.locator('main [role=status].hidden-text');
    await ask(page, 'What is DMARC?');
    await page.locator('.chat-text').waitFor();
    await focusIs(page, 'Your question');
    assert.equal(await status.innerText(), 'The answer is being generated.');
    await page.keyboard.press('Escape');
    await finished(page, 1, 'stopped');
    assert.ok(await page.getByText('Answer stopped.').isVisible());
    assert.match(await status.innerText(), /^Stopped answer/);
    await settled(page);
    const part = await page.locator('.chat-text').innerText();
    assert.ok(part.length > 0);
    await page.getByRole('button', { name: 'Retry' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    await focusIs(page, 'Your question');
    await page.locator('[data-state=running] .chat-text').waitFor();
    await page.evaluate(() => dispatchEvent(new Event('release')));
    await finished(page);
    await settled(page);
    const complete = await page.locator('.chat-text').innerText();
    assert.equal((await status.innerText()).replace(/\s+/g, ' '), `Answer: ${complete}`.replace(/\s+/g, ' '));
    assert.notEqual(complete, part);
    // The stopped answer is kept as a version.
    await page.getByText('2 of 2').waitFor();
    await page.getByRole('button', { name: 'Earlier version of this answer' }).press('Enter');
    await focusIs(page, 'Earlier version of this answer');
    assert.equal(await page.locator('.chat-text').innerText(), part);
    await ask(page, 'What is SPF?');
    await page.getByRole('button', { name: 'Stop' }).click();
    await focusIs(page, 'Your question');
  });
  inChat('edits a question and switches back to the earlier version', {}, async (page) => {
    await answered(page, 'What is DMARC?');
    await answered(page, 'What is SPF?', 2);
    await page.getByRole('button', { name: 'Edit question' }).first().click();
    await page.getByText('Earlier versions and their answers are kept').waitFor();
    await page.getByLabel('Edited question', { exact: true }).fill('What is DKIM?');
    await page.getByRole('button', { name: 'Save and send' }).click();
    await finished(page);
    assert.deepEqual(await questions(page), ['What is DKIM?']);
    await page.getByRole('button', { name: 'Earlier version of this question' }).click();
    assert.deepEqual(await questions(page), ['What is DMARC?', 'What is SPF?']);
    await page.reload();
    assert.deepEqual(await questions(page), ['What is DMARC?', 'What is SPF?']);
    await assertAccessible(page);
  });
  inChat('keeps several conversations, renames and deletes them', {}, async (page) => {
    for (const question of ['What is SPF?', 'What is Strata?']) {
      await page.getByRole('button', { name: 'New conversation' }).click();
      await answered(page, question);
    }
    const list = page.getByRole('navigation', { name: 'Conversations' });
    await list.getByRole('button', { name: 'Rename What is SPF?' }).click();
    await page.getByLabel('Conversation name').fill('Senders');
    await page.keyboard.press('Enter');
    await focusIs(page, 'Rename Senders');
    await page.reload();
    await list.getByRole('link', { name: 'Senders' }).waitFor();
    assert.deepEqual(await list.getByRole('link').allInnerTexts(), ['What is Strata?', 'Senders']);
    await list.getByRole('link', { name: 'Senders' }).click();
    await page.getByRole('heading', { level: 1, name: 'Senders' }).waitFor();
    await list.getByRole('button', { name: 'Delete Senders' }).click();
    await page.keyboard.press('Escape');
    await focusIs(page, 'Delete Senders');
    // The focus is back before the dialog's close event, which takes it from the page.
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    // It was the displayed conversation.
    await focusIs(page, 'Your question');
    assert.deepEqual(await list.getByRole('link').allInnerTexts(), ['What is Strata?']);
    await list.getByRole('button', { name: 'Delete all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await page.reload();
    await list.getByRole('button', { name: 'New conversation' }).waitFor();
    assert.equal(await list.getByRole('link').count(), 0);
  });
  inChat('sends the parameters that were set, and reports invalid ones', {}, async (page) => {
    await page.getByRole('button', { name: 'Parameters' }).click();
    await page.getByLabel('System prompt').fill('Be short.');
    await page.getByLabel('Temperature').fill('0');
    await page.getByLabel('Max tokens').fill('5');
    await page.getByLabel('Top p').fill('7');
    await page.getByText('Enter a number from 0 to 1. This value is not sent.').waitFor();
    await assertAccessible(page);
    const sent = page.waitForRequest(CHAT);
    await ask(page, 'What is DMARC?');
    const body = (await sent).postDataJSON();
    assert.deepEqual(body.messages[0], { role: 'system', content: 'Be short.' });
    assert.deepEqual([body.temperature, body.max_tokens, 'seed' in body, 'top_p' in body], [0, 5, false, false]);
    await finished(page);
    await page.getByText('The answer reached its token limit.').waitFor();
  });
  inChat('completes an answer whose worker is killed, and shows the failover', {}, async (page, t) => {
    const { workerPids = [], inference } = demo();
    if (workerPids.length < 2) return t.skip('the demo was not started by this test');
    const report = async () => (await (await fetch(`${inference}/network`)).json()) as Report;
    // The first process was the first to join.
    const { peers } = await report();
    const [first, second] = peers.toSorted((a, b) => a.connected_since.localeCompare(b.connected_since));
    assert.ok(first && second);
    await using machines = await visit(browser(), `${inference}/machines`);
    await machines.waitForFunction(() => document.querySelectorAll('.chat-workers tbody tr').length === 2);
    await settled(page);
    await page.getByRole('button', { name: 'Parameters' }).click();
    await page.getByLabel('Temperature').fill('2');
    await page.getByLabel('Max tokens').fill('200');
    const remaining = [first, second];
    const pidOf = (peer: unknown) => workerPids[peer === first ? 0 : 1] ?? 0;
    const handovers = page.locator('.chat-handover');
    let killed = first;
    /** A worker that was killed stays in the report for a moment, then restarts. */
    const areBack = ({ peers }: Report) => {
      const lost = [first, second].filter((each) => !remaining.includes(each)).map((each) => each.connected_since);
      return peers.length === 2 && !peers.some((each) => lost.includes(each.connected_since));
    };
    /** Asks a question of slow workers and kills the one that answers; then the other is as fast as it can be. */
    const writerKilled = async () => {
      using _slow = slowed(remaining.map(pidOf));
      await ask(page, 'What is DMARC?');
      const writer = await writerOf(page, report);
      const at = remaining.findIndex(({ peer }) => peer === writer);
      if (at < 0) return;
      [killed = first] = remaining.splice(at, 1);
      process.kill(pidOf(killed), 'SIGKILL');
    };
    for (let asked = 0; asked < QUESTIONS && (await handovers.count()) === 0; asked += 1) {
      await untilAnswer('two workers are connected', report, areBack);
      await page.getByRole('button', { name: 'New conversation' }).click();
      await writerKilled();
      // All tokens may have arrived before the kill: then another question is asked.
      await finished(page);
      await page.getByText(/by workers? /).waitFor();
    }
    const other = killed === first ? second : first;
    const shown = await handovers.first().innerText();
    const short = ({ peer }: { readonly peer: string }) => `…${peer.slice(-6)}`;
    const [, failed, after, next] = /^Worker (\S+) stopped .*after token (\d+); (…\w{6}) took over/.exec(shown) ?? [];
    assert.deepEqual([failed, next, Number(after) > 0], [short(killed), short(other), true]);
    // The worker restarts after two seconds, so its badge may already be online again.
    await machines.getByText(`Worker ${short(killed)} went offline.`).waitFor({ timeout: 15_000 });
    await picture(page, 'chat-failover');
    await assertReceiptHolds(page, 'Receipt and workers');
    await answered(page, 'What is SPF?', 2);
  });
});
