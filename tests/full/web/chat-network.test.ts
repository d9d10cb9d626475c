// An answer whose worker is killed while it writes: another goes on, nothing is missing, and both pages show who went.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { assertReceiptHolds, picture, settled, visit } from '../../support/web/browser.ts';
import { ask, finished, inChat } from '../../support/web/chat-page.ts';
import { describePages } from '../../support/web/demo.ts';

interface Report {
  readonly peers: readonly { readonly peer: string; readonly connected_since: string; readonly running: number }[];
}

/** Of a turn of `STILL_MS` and `MOVING_MS` processes run for the second part: a small model then writes as slowly as a large one. */
const STILL_MS = 100;
const MOVING_MS = 5;

/** A process and its children: a worker's engine is one of its own (Linux, `proc(5)`). */
function withChildren(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return [pid, ...children.filter(Boolean).map(Number)];
}

/** Lets workers run only now and then; a process that has ended is left alone. */
function slowed(workers: readonly number[]): Disposable {
  const pids = workers.flatMap(withChildren);
  let isStill = false;
  let timer: NodeJS.Timeout | undefined;
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // It was killed, which is what the test is about.
      }
    }
  };
  const turn = () => {
    isStill = !isStill;
    signal(isStill ? 'SIGSTOP' : 'SIGCONT');
    timer = setTimeout(turn, isStill ? STILL_MS : MOVING_MS);
  };
  turn();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal('SIGCONT');
    },
  };
}

/** Whether the answer that is shown is being written and has words. */
const isWriting = async (page: Page): Promise<boolean> =>
  (await page.locator('[data-state=running] .chat-text').count()) === 1;

/** The one worker that writes; workers tell now and then how busy they are. Undefined where the answer is over before they do. */
async function writerOf(page: Page, report: () => Promise<Report>): Promise<string | undefined> {
  await page.locator('.chat-text').waitFor();
  while (await isWriting(page)) {
    const busy = (await report()).peers.filter(({ running }) => running > 0);
    if (busy.length === 1 && (await isWriting(page))) return busy[0]?.peer;
    await sleep(20);
  }
  return undefined;
}

/** A model that draws wildly may end after a few words: then another question is asked. */
const QUESTIONS = 10;

describePages('chat-network', (get) => {
  const { browser, demo } = get;
  describe('the chat over a network', () => {
    it('gives an answer whole though the worker that writes it is killed, and shows who went and who took over', async (t) => {
      const { workerPids = [], inference } = demo();
      if (workerPids.length < 2) return t.skip('the demo is not ours to break');
      const report = async () => (await (await fetch(`${inference}/network`)).json()) as Report;
      // The first process was the first to join.
      const { peers } = await report();
      const [first, second] = peers.toSorted((a, b) => a.connected_since.localeCompare(b.connected_since));
      assert.ok(first && second);
      await using machines = await visit(browser(), `${inference}/machines`);
      await machines.waitForFunction(() => document.querySelectorAll('.chat-workers tbody tr').length === 2);
      await inChat(get, async (page) => {
        await settled(page);
        await page.getByRole('button', { name: 'Parameters' }).click();
        await page.getByLabel('Temperature').fill('2');
        await page.getByLabel('Most tokens').fill('200');
        const killed = await (async () => {
          using _slow = slowed(workerPids);
          for (let asked = 0; asked < QUESTIONS; asked += 1) {
            await page.getByRole('button', { name: 'New conversation' }).click();
            await ask(page, 'What is DMARC?');
            const writer = await writerOf(page, report);
            const at = [first.peer, second.peer].indexOf(writer ?? '');
            if (at >= 0) {
              process.kill(workerPids[at] ?? 0, 'SIGKILL');
              return at === 0 ? first : second;
            }
            await finished(page, 1);
          }
          return assert.fail(`none of ${QUESTIONS} answers was seen being written`);
        })();
        const other = killed === first ? second : first;
        assert.equal(await finished(page, 1), 'whole');
        const handOver = page.locator('.chat-handover').first();
        await handOver.waitFor();
        const short = ({ peer }: { readonly peer: string }) => `…${peer.slice(-6)}`;
        const [, went, after, took] =
          /^Worker (…\w{6}) went after token (\d+); (…\w{6}) took over/.exec(await handOver.innerText()) ?? [];
        assert.deepEqual([went, took], [short(killed), short(other)]);
        assert.ok(Number(after) > 0);
        // It is started again after two seconds, so that the word beside it may be gone by now.
        await machines.getByText(`Worker ${short(killed)} has gone.`).waitFor({ timeout: 15_000 });
        await picture(machines, 'machines-failover');
        await picture(page, 'chat-failover');
        await assertReceiptHolds(page, 'Receipt and workers');
        await ask(page, 'What is SPF?');
        assert.equal(await finished(page, 2), 'whole');
      })();
    });
  });
});
