// The typed client with the real services over sockets; the examples of its README run in Node and in a browser.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { StackClient, type StackProblem } from '@strata/client';
import { type Harness as Gateway, startHarness as startGateway } from '../../../services/gateway/src/test/harness.ts';
import { type ScannedStack, startScannedStack } from '../../support/client-services.ts';
import { casesOf, temporaryDirectory } from '../../support/index.ts';
import { serveModules } from '../../support/module-server.ts';
import { sharedBrowser, skip } from '../../support/web/browser.ts';

const root = path.join(import.meta.dirname, '../../..');
const readme = await readFile(path.join(root, 'packages/client/README.md'), 'utf8');
const examples = new Map(
  [...readme.matchAll(/^## (.+)\n\n```ts\n([\s\S]*?)```/gm)].map(([, title = '', code = '']) => [title, code]),
);

const OUTPUTS: Readonly<Record<string, string>> = casesOf('client', 'outputs of examples');

describe('the clients', () => {
  let scanned: ScannedStack;
  let gateway: Gateway;
  let client: StackClient;
  before(async () => {
    scanned = await startScannedStack();
    await scanned.move(1);
    client = new StackClient({ baseUrl: scanned.service.base, key: scanned.key });
    gateway = await startGateway();
  });
  after(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await scanned?.[Symbol.asyncDispose]();
  });
  it('have the examples that are run here in their README', () =>
    assert.deepEqual([...examples.keys()], Object.keys(OUTPUTS)));

  const addressed = (code: string, module: string) =>
    code
      .replaceAll('@strata/client', module)
      .replaceAll('http://127.0.0.1:8787', scanned.service.base)
      .replaceAll('http://127.0.0.1:8788', gateway.base);

  for (const [title, code] of examples) {
    if (!code.includes('document.'))
      it(`"${title}" of the README runs in Node`, async () => {
        await using directory = await temporaryDirectory();
        const file = path.join(directory.path, 'example.ts');
        await writeFile(file, addressed(code, pathToFileURL(path.join(root, 'packages/client/src/index.ts')).href));
        const env = { ...process.env, STRATA_KEY: scanned.key, STRATA_INFERENCE_KEY: gateway.key };
        const { stdout } = await promisify(execFile)(process.execPath, [file], { env, timeout: 60_000 });
        assert.match(stdout, new RegExp(OUTPUTS[title] ?? '^$'));
      });
    it(`"${title}" of the README runs in a browser, in a page of another origin`, { skip }, async () => {
      const script = addressed(code, '@strata/client')
        .replaceAll('process.env.STRATA_KEY', JSON.stringify(scanned.key))
        .replaceAll('process.env.STRATA_INFERENCE_KEY', JSON.stringify(gateway.key));
      await using modules = await serveModules(script);
      const page = await (await sharedBrowser()).newPage();
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      await page.goto(modules.url);
      await page.waitForFunction(() => document.title === 'done', undefined, { timeout: 30_000 }).catch(() => {});
      assert.deepEqual(errors, []);
      // The text of the page, otherwise the output of the script.
      const output = () => document.body.textContent || (window as unknown as { output: string }).output;
      assert.match(await page.evaluate(output), new RegExp(OUTPUTS[title] ?? '^$'));
    });
  }

  it('report problems of the service, which are signed too', async () => {
    const baseUrl = scanned.service.base;
    const free = new StackClient({ baseUrl, key: await scanned.service.newKey('free') });
    const askUntilRefused = async () => {
      for (;;) await free.get('/stack/v1/stats');
    };
    for (const [ask, status, code] of [
      [() => client.get('/stack/v1/domains/{domain}', { path: { domain: 'co.uk' } }), 400, 'invalid_domain'],
      [() => client.get('/stack/v1/search', { query: { limit: 5_000 } }), 400, 'invalid_parameter'],
      [() => new StackClient({ baseUrl }).get('/stack/v1/stats'), 401, 'missing_key'],
      [askUntilRefused, 429, 'quota_exceeded'],
      [() => free.events().next(), 429, 'quota_exceeded'],
    ] as const) {
      const refusal: StackProblem = await ask()
        .then(() => assert.fail('it was answered'))
        .catch((error) => error);
      assert.deepEqual([refusal.status, refusal.code], [status, code]);
      const { ok, problem } = await client.verify(refusal);
      assert.deepEqual([ok, problem?.code], [true, code]);
      const altered = await client.verify((refusal.text ?? '').replace('"status":4', '"status":5'));
      assert.equal(altered.failedStep, 'signature', code);
    }
  });
});
