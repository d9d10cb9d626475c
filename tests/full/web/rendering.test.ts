// Every page in light, dark and on a phone: it has content, loads without errors, fits the screen, and passes axe.
import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { assertAccessible, assertRenders, PHONE } from '../../support/web/browser.ts';
import { answered, describeChat } from '../../support/web/chat-page.ts';
import { describePages } from '../../support/web/demo.ts';

/** Name, path, and whether there is an API key. Placeholders such as DOMAIN are replaced by values of the demo. */
const EXPLORER = [
  ['home', '/', true],
  ['home-without-key', '/', false],
  ['start', '/start', false],
  ['start-with-key', '/start', true],
  ['search', '/search?state=active', true],
  ['search-nothing', '/search?q=no-such-company', true],
  ['lookup', '/lookup', true],
  ['domain', '/domain/DOMAIN', true],
  ...(['history', 'records', 'posture', 'risk', 'advisories', 'feeds'] as const).map(
    (tab) => [`domain-${tab}`, `/domain/DOMAIN?tab=${tab}`, true] as const,
  ),
  ['shared-values', '/pivot?kind=soa&value=dns.cloudflare.com', true],
  ['compare', '/compare?domains=DOMAINS&risk=yes', true],
  ['compare-providers', '/compare?providers=cloudflare,microsoft-365', true],
  ['market', '/market?category=email', true],
  ['migrations', '/migrations', true],
  ['provider', '/provider/cloudflare', true],
  ...(['customers', 'adoption', 'dependence', 'detection'] as const).map(
    (tab) => [`provider-${tab}`, `/provider/cloudflare?tab=${tab}`, true] as const,
  ),
  ['live', '/live', true],
  ['feeds', '/feeds', true],
  ['feed-domain', '/feeds/NAMED', true],
  ['status', '/status', true],
  ['security', '/security', true],
  ['alerts', '/alerts', true],
  ['advisories', '/advisories', true],
] as const;
const CHAT = [
  ['chat', '/', true],
  ['chat-without-key', '/', false],
  ['machines', '/machines', false],
] as const;

describePages('a page of the explorer renders correctly', ({ answer, browser, demo }) => {
  const found: Record<string, string> = {};
  before(async () => {
    type Named = readonly { readonly domain: string }[];
    const { migrations } = await answer<{ migrations: Named }>('/stack/v1/stats/migrations?limit=50');
    const { domains } = await answer<{ domains: Named }>('/stack/v1/feeds/leaderboard?window=7d');
    const moved = [...new Set(migrations.map(({ domain }) => domain))];
    Object.assign(found, { DOMAINS: moved.slice(0, 3).join(), DOMAIN: moved[0], NAMED: domains[0]?.domain });
  });

  for (const [name, path, hasKey] of EXPLORER)
    it(name, () => {
      const at = path.replace(/DOMAINS|DOMAIN|NAMED/, (what) => found[what] ?? '');
      return assertRenders(browser(), demo().stack + at, { name, key: hasKey ? demo().stackKey : undefined });
    });
});

describeChat('a page of the chat renders correctly', (inChat, { browser, demo }) => {
  for (const [name, path, hasKey] of CHAT)
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
