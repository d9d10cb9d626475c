// Every page as a reader has it: the built pages, served by the demo, in a real browser.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe } from 'node:test';
import type { Browser } from 'playwright-core';
import * as answers from './web/answers.ts';
import { type Demo, openBrowser, skip } from './web/browser.ts';
import * as chat from './web/chat.ts';
import * as domain from './web/domain.ts';
import * as frame from './web/frame.ts';
import * as home from './web/home.ts';
import * as live from './web/live.ts';
import * as market from './web/market.ts';
import * as newcomer from './web/newcomer.ts';
import * as search from './web/search.ts';
import * as watch from './web/watch.ts';

/** The tests of one page, or of a few that belong together. */
export type PageTests = (get: { readonly browser: () => Browser; readonly demo: () => Demo }) => void;

const modules: readonly { readonly tests: PageTests }[] = [
  answers,
  chat,
  domain,
  frame,
  home,
  live,
  market,
  newcomer,
  search,
  watch,
];

const root = path.join(import.meta.dirname, '..');

/** What the demo prints, the address of the pages last. */
const TOLD: Readonly<Record<keyof Demo, RegExp>> = {
  stackKey: /^stack key: (\S+)/,
  inferenceKey: /^inference key: (\S+)/,
  inference: /--base (http\S+)/,
  workerPids: /lent by two workers, processes (\d+ and \d+)/,
  stack: /docs: (http\S+)\//,
};

/** Starts `npm run demo` on free ports, or takes the one that STRATA_DEMO describes as JSON. */
async function startDemo(): Promise<Demo & AsyncDisposable> {
  const given = process.env.STRATA_DEMO;
  if (given) return { ...(JSON.parse(given) as Demo), [Symbol.asyncDispose]: async () => {} };
  const child = spawn(process.execPath, ['services/demo/src/main.ts'], {
    cwd: root,
    env: { ...process.env, STRATA_STACK_PORT: '0', STRATA_INFERENCE_PORT: '0', STRATA_METRICS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const found: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    for (const [name, pattern] of Object.entries(TOLD)) found[name] ||= pattern.exec(line)?.[1] ?? '';
    if (found.stack) break;
  }
  child.stdout.resume();
  const { stack = '', inference = '', stackKey = '', inferenceKey = '', workerPids = '' } = found;
  return {
    stack,
    inference,
    stackKey,
    inferenceKey,
    workerPids: workerPids.split(' and ').map(Number),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

describe('the pages', { skip }, () => {
  let demo: (Demo & AsyncDisposable) | undefined;
  let browser: Browser | undefined;
  before(async () => {
    [demo, browser] = await Promise.all([startDemo(), openBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await demo?.[Symbol.asyncDispose]();
  });
  for (const { tests } of modules) {
    tests({ browser: () => browser as Browser, demo: () => demo as Demo });
  }
});
