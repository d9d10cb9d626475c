// The examples of the client's README run as they stand, in Node and in a browser, against both services.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { type Harness as Gateway, startHarness as startGateway } from '../../../services/gateway/src/test/harness.ts';
import { type ScannedStack, startScannedStack } from '../../support/client-services.ts';
import { serveModules } from '../../support/module-server.ts';
import { openBrowser, skip } from '../../support/web/browser.ts';

const root = path.join(import.meta.dirname, '../../..');
const readme = await readFile(path.join(root, 'packages/client/README.md'), 'utf8');
const examples = new Map(
  [...readme.matchAll(/^## (.+)\n\n```ts\n([\s\S]*?)```/gm)].map(([, title = '', code = '']) => [title, code]),
);

/** What each example says. */
const said: Readonly<Record<string, RegExp>> = {
  Ask: /^\d+ domains, 49 of 50 requests left\n(?:\S+ .*dns: .*\n){5}$/,
  Verify: /^(?:passed .*\n){6}false signature\n$/,
  'Read a whole list': /^(?:\S+\n){0,3}\d+ parked domains\n$/,
  'Follow events': /^connecting\nopen\n\S+ moved its dns from .+ to .+\n$/,
  Chat: /\nreceipt holds: true and is of these words: true\n$/,
  'In a page': /^\d+ domains; the receipt holds$/,
  'When something goes wrong': /^400 invalid_domain .+\n$/,
};

describe("the client's README", () => {
  let scanned: ScannedStack;
  let gateway: Gateway;
  let directory: string;
  let browser: Browser | undefined;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'strata-readme-'));
    scanned = await startScannedStack();
    await scanned.move(1);
    gateway = await startGateway();
    if (!skip) browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.[Symbol.asyncDispose]();
    await scanned?.[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  it('has the examples that are run here', () => assert.deepEqual([...examples.keys()], Object.keys(said)));

  /** Where the services of the demo are, here. */
  const placed = (code: string, client: string) =>
    code
      .replaceAll('@strata/client', client)
      .replaceAll('http://127.0.0.1:8787', scanned.service.base)
      .replaceAll('http://127.0.0.1:8788', gateway.base);

  for (const [title, code] of examples) {
    if (!code.includes('document.'))
      it(`"${title}" runs in Node`, async () => {
        const file = path.join(directory, `${title.replaceAll(' ', '-')}.ts`);
        await writeFile(file, placed(code, pathToFileURL(path.join(root, 'packages/client/src/index.ts')).href));
        const env = { ...process.env, STRATA_STACK_KEY: scanned.key, STRATA_INFERENCE_KEY: gateway.key };
        const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 60_000 });
        assert.match(stdout, said[title] ?? /^$/);
      });

    it(`"${title}" runs in a browser, from a page of another origin`, { skip }, async () => {
      const here = placed(code, '@strata/client')
        .replaceAll('process.env.STRATA_STACK_KEY', JSON.stringify(scanned.key))
        .replaceAll('process.env.STRATA_INFERENCE_KEY', JSON.stringify(gateway.key));
      assert.match(await saidInPage(here), said[title] ?? /^$/);
    });
  }

  /** What a script writes in a page of its own: the text of the page, or else all that it prints. */
  async function saidInPage(code: string): Promise<string> {
    await using modules = await serveModules(code);
    const page = await (browser ?? assert.fail()).newPage();
    try {
      const trouble: string[] = [];
      page.on('pageerror', (error) => trouble.push(error.message));
      await page.goto(modules.url);
      await page.waitForFunction(() => document.title === 'done', undefined, { timeout: 30_000 }).catch(() => {});
      assert.deepEqual(trouble, []);
      return await page.evaluate(() => document.body.textContent || (window as unknown as { said: string }).said);
    } finally {
      await page.close();
    }
  }
});
