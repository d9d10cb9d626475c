// The built pages, served by the demo, in a real browser. The files of one process share one demo and one browser.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { endProcess } from '../end-process.ts';
import { freePort } from '../free-port.ts';
import { shared } from '../shared.ts';
import { untilAnswer } from '../until.ts';
import { settled, sharedBrowser, skip, type Visit, type VisitOptions, visit } from './browser.ts';

/** The demo that the pages are served by. */
export interface Demo {
  readonly stack: string;
  readonly inference: string;
  /** Keys of tiers without a limit. */
  readonly stackKey: string;
  readonly inferenceKey: string;
  /** Processes of the workers in the order in which they joined; none for a demo that this process did not start. */
  readonly workerPids?: readonly number[];
}

type At = string | (VisitOptions & { readonly path: string });

export interface Pages {
  readonly browser: () => Browser;
  readonly demo: () => Demo;
  /** Values of the placeholders in capitals in paths, when they are known. */
  readonly named: Record<string, string>;
  /** A test in a page of the explorer, with the demo's key, that has loaded. */
  inPage(title: string, at: At, test: (page: Page) => Promise<void>): void;
  open(path: string, options?: VisitOptions): Promise<Visit>;
  /** What the stack service answers at a path. */
  answer<Body>(path: string): Promise<Body>;
}

/** What the demo prints, the address of the pages last. */
const PRINTED: Readonly<Record<keyof Demo, RegExp>> = {
  stackKey: /^stack key: (\S+)/,
  inferenceKey: /^inference key: (\S+)/,
  inference: /--base (http\S+)/,
  workerPids: /two workers serve it, processes (\d+ and \d+)/,
  stack: /docs: (http\S+)\//,
};

/** Starts `npm run demo` on free ports, or takes the one that STRATA_DEMO describes as JSON. */
async function startDemo(): Promise<Demo & AsyncDisposable> {
  const given = process.env.STRATA_DEMO;
  if (given) return { ...(JSON.parse(given) as Demo), [Symbol.asyncDispose]: async () => {} };
  const ports = { STRATA_STACK_PORT: '0', STRATA_INFERENCE_PORT: String(await freePort()), STRATA_METRICS_PORT: '0' };
  const child = spawn(process.execPath, ['services/demo/src/main.ts'], {
    cwd: path.join(import.meta.dirname, '../../..'),
    // Fewer companies than a reader gets: sooner ready, and something on every page. STRATA_SCREENSHOTS is no setting of it.
    env: { ...process.env, ...ports, STRATA_DEMO_DOMAINS: '300', STRATA_SCREENSHOTS: undefined },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const found: Record<string, string> = {};
  for await (const line of createInterface({ input: child.stdout })) {
    for (const [name, pattern] of Object.entries(PRINTED)) found[name] ||= pattern.exec(line)?.[1] ?? '';
    if (found.stack) break;
  }
  if (!found.stack) throw new Error('the demo ended before it was ready');
  child.stdout.resume();
  const { stack = '', inference = '', stackKey = '', inferenceKey = '', workerPids = '' } = found;
  const pids = workerPids.split(' and ').map(Number);
  const close = () => endProcess(child, 30_000);
  return { stack, inference, stackKey, inferenceKey, workerPids: pids, [Symbol.asyncDispose]: close };
}

const sharedDemo = shared(startDemo);

/** Waits until the parameters in the address of the page are these: it changes after the action that changes it. */
export async function parametersAre(page: Page, wanted: Readonly<Record<string, unknown>>): Promise<void> {
  const parameters = () => Object.fromEntries(new URL(page.url()).searchParams);
  await untilAnswer(JSON.stringify(wanted), parameters, (current) => isDeepStrictEqual(current, wanted));
}

/** Tests of pages; skipped with a reason where there is no browser. */
export function describePages(name: string, tests: (pages: Pages) => void): void {
  describe(name, { skip }, () => {
    let started: readonly [Demo, Browser];
    before(async () => {
      started = await Promise.all([sharedDemo(), sharedBrowser()]);
    });
    const demo = () => started[0];
    const browser = () => started[1];
    const named: Record<string, string> = {};
    const open = (path: string, options?: VisitOptions) => {
      const { stack, stackKey: key } = demo();
      const filled = path.replace(/[A-Z]{4,}/, (name) => named[name] ?? name);
      return visit(browser(), stack + filled, { key, ...options });
    };
    tests({
      ...{ browser, demo, named, open },
      inPage: (title, at, test) =>
        it(title, async () => {
          const { path, ...options } = typeof at === 'object' ? at : { path: at };
          await using page = await open(path, options);
          await settled(page);
          await test(page);
        }),
      async answer<Body>(path: string) {
        const response = await fetch(demo().stack + path, { headers: { 'x-stack-key': demo().stackKey } });
        assert.equal(response.status, 200, path);
        return (await response.json()) as Body;
      },
    });
  });
}
