// Every page in light, dark and on a phone: it has content, loads without errors, fits the screen, and passes axe.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { casesOf } from '../../support/vectors.ts';
import { assertAccessible, assertRenders, PHONE } from '../../support/web/browser.ts';
import { answered, describeChat } from '../../support/web/chat-page.ts';
import { describePages } from '../../support/web/demo.ts';

/** Placeholders such as DOMAIN are replaced by values of the demo. */
type Page = readonly [name: string, path: string, hasKey: boolean];

describePages('a page of the explorer renders correctly', ({ answer, browser, demo }) => {
  const found: Record<string, string> = {};
  before(async () => {
    type Named = readonly { readonly domain: string }[];
    const { migrations } = await answer<{ migrations: Named }>('/stack/v1/stats/migrations?limit=50');
    const { domains } = await answer<{ domains: Named }>('/stack/v1/feeds/leaderboard?window=7d');
    const moved = [...new Set(migrations.map(({ domain }) => domain))];
    Object.assign(found, { DOMAINS: moved.slice(0, 3).join(), DOMAIN: moved[0], NAMED: domains[0]?.domain });
  });

  for (const [name, path, hasKey] of casesOf<Page[]>('web', 'pages of the explorer'))
    it(name, () => {
      const at = path.replace(/DOMAINS|DOMAIN|NAMED/, (what) => found[what] ?? '');
      return assertRenders(browser(), demo().stack + at, { name, key: hasKey ? demo().stackKey : undefined });
    });
});

describeChat('a page of the chat renders correctly', (inChat, { browser, demo }) => {
  for (const [name, path, hasKey] of casesOf<Page[]>('web', 'pages of the chat'))
    it(name, () =>
      assertRenders(browser(), demo().inference + path, { name, key: hasKey ? demo().inferenceKey : undefined }),
    );
  inChat('a conversation on a phone, with the list of conversations', PHONE, async (page) => {
    await answered(page, 'What is DMARC?');
    await page.getByRole('button', { name: 'Conversations' }).click();
    await page.getByRole('navigation', { name: 'Conversations' }).waitFor();
    await assertAccessible(page);
  });
});

describePages('the tests of pages', ({ browser, open }) => {
  it('reject an empty page', async () => {
    const empty = 'data:text/html,<title>Empty</title>';
    await assert.rejects(assertRenders(browser(), empty, { name: 'empty' }), /headings/);
    const bare = 'data:text/html,<title>Bare</title><h1>Bare</h1><main>Little</main>';
    await assert.rejects(assertRenders(browser(), bare, { name: 'bare' }), /shows nothing but/);
  });
  it('fail on a violation of the content security policy', async () => {
    const page = await open('/start');
    const reported = page.waitForEvent('console', (message) => /violated: script-src/.test(message.text()));
    await page.evaluate(() => document.body.setAttribute('style', 'color: red'));
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.wasRun = true';
      document.body.append(script);
    });
    await reported;
    assert.equal(await page.evaluate(() => 'wasRun' in window), false);
    await assert.rejects(async () => await page[Symbol.asyncDispose](), /policy violated: script-src/);
  });
});
