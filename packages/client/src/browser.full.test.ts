// The same client in a real browser: with types stripped, nothing bundled.
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { serveModules } from '../../../tests/support/module-server.ts';
import { openBrowser, skip } from '../../../tests/support/web/browser.ts';
import { STREAM } from './test/http-server.ts';
import { GOOD_PAGES, PATHS, vector } from './test/service.ts';

/** The good service at the origin of the page. */
const goodService: RequestListener = ({ url = '', headers }, response) => {
  const page = GOOD_PAGES[url];
  if (url === '/stack/v1/stream') {
    response.writeHead(200, STREAM);
    const id = Number(headers['last-event-id'] ?? 0) + 1;
    // Each line breaks after one event.
    return response.end(`retry: 1\nid: ${id}\nevent: migration\ndata: {"type":"migration","id":"ev_${id}"}\n\n`);
  }
  return page ? response.writeHead(200, page.headers ?? {}).end(page.body) : response.writeHead(404).end('{}');
};

declare global {
  interface Window {
    client: typeof import('./index.ts');
  }
}

describe('in a browser', { skip }, () => {
  let browser: Browser;
  let page: Page;
  let modules: Awaited<ReturnType<typeof serveModules>>;
  before(async () => {
    modules = await serveModules("window.client = await import('/packages/client/src/index.ts');", goodService);
    browser = await openBrowser();
    page = await browser.newPage();
    await page.goto(modules.url);
    await page.waitForFunction(() => window.client !== undefined);
  });
  after(async () => {
    await browser?.close();
    await modules?.[Symbol.asyncDispose]();
  });

  it('a good answer verifies, saved or fetched', async () => {
    const good = { body: vector('answer.json'), paths: [PATHS.answer, PATHS.csv] };
    const verified = await page.evaluate(({ body, paths }) => {
      const fetched = paths.map((at) => window.client.verifyUrl(location.origin + at));
      return Promise.all([window.client.verifyBody(body, { baseUrl: location.origin }), ...fetched]);
    }, good);
    for (const { ok, steps } of verified) assert.ok(ok, JSON.stringify(steps));
  });

  it('the client asks, verifies, follows events over a line that breaks, and throws a problem', async () => {
    const found = await page.evaluate(async () => {
      const client = new window.client.StackClient({ baseUrl: location.origin, key: 'ssk_1' });
      const answer = await client.get('/stack/v1/domains/{domain}', { path: { domain: 'example.com' } });
      const { ok } = await client.verify(answer);
      const { failedStep } = await client.verify({ ...answer, text: answer.text.replace('Cloudflare', 'Cloudflair') });
      const ids: string[] = [];
      for await (const { id } of client.events()) if (ids.push(id) === 2) break;
      const error = await client.get('/stack/v1/stats').catch((reason: unknown) => reason);
      const problem = error instanceof window.client.StackProblem && `${error.status} ${error.code}`;
      return [answer.body.domain, ok, failedStep, ids, problem];
    });
    assert.deepEqual(found, ['example.com', true, 'signature', ['ev_1', 'ev_2'], '404 invalid_answer']);
  });
});
