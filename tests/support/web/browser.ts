// A browser, and checks for errors in each page.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core';
import { shared } from '../shared.ts';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
/** Why the browser tests do not run here; false where they do. */
export const skip: string | false = existsSync(executablePath)
  ? false
  : `no browser at ${executablePath}: install Debian's chromium, or set CHROMIUM_PATH`;

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SCREENSHOTS = process.env.STRATA_SCREENSHOTS;

/** A page in a browser profile of its own. Closing it fails where anything went wrong in it that its test did not expect. */
export type Visit = Page & AsyncDisposable;

export interface VisitOptions {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** Kept in the browser before the page opens; undefined for a new reader. */
  readonly key?: string | undefined;
  /** Status codes of refusals that the test expects. */
  readonly allowed?: readonly number[];
}

/** The size of a phone's screen. */
export const PHONE = { width: 390, height: 844 };

/** The address bar of each window would run pages of its own, at half of the processor time of a test; and what Playwright disables. */
const DISABLED_FEATURES = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxFullPopup', 'WebUIOmniboxAimPopup', 'AimEnabled', 'HttpsUpgrades'],
  ...['MediaRouter', 'OptimizationHints', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'Translate'],
].join();

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', `--disable-features=${DISABLED_FEATURES}`],
  });

/** One for all tests of the process. */
export const sharedBrowser = shared(openBrowser);

/** Opens a page in a browser profile of its own. */
export async function visit(browser: Browser, url: string, options: VisitOptions = {}): Promise<Visit> {
  const { width = 1280, height = 900, colorScheme = 'light', key, allowed = [] } = options;
  const context = await browser.newContext({
    ...{ viewport: { width, height }, colorScheme, locale: 'en-GB', timezoneId: 'UTC' },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  if (key !== undefined)
    await context.addInitScript((value) => {
      // A blank page has no storage.
      if (!/^https?:$/.test(location.protocol)) return;
      for (const service of ['stack', 'inference']) localStorage.setItem(`strata-${service}-key`, value);
    }, key);
  // Violations are events of the document; as errors of the console they reach the test.
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error(`policy violated: ${violatedDirective} by ${blockedURI}`),
    );
  });
  const page = await context.newPage();
  countRequests(page);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // Chromium also logs each refused answer here, without its status: the response below has it.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) problems.push(message.text());
  });
  page.on('request', (request) => {
    if (request.isNavigationRequest()) return;
    const to = new URL(request.url());
    // Of the page that asks: a link may have led to another service.
    const { origin } = new URL(request.frame().url());
    const isElsewhere = /^https?:$/.test(to.protocol) && /^https?:/.test(origin) && to.origin !== origin;
    if (isElsewhere) problems.push(`asks another host: ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400 && !allowed.includes(response.status()))
      problems.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(url);
  return Object.assign(page, {
    async [Symbol.asyncDispose]() {
      const address = page.url();
      await context.close();
      assert.deepEqual(problems, [], `went wrong in ${address}`);
    },
  });
}

/** Requests of each page that have not ended; an event stream never does and is not counted. */
const openRequests = new WeakMap<Page, Set<Request>>();
const QUIET_MS = 100;
/** Real time: a page on a busy machine. */
const SETTLED_WITHIN_MS = 30_000;

/** Waits until the page is drawn, no request is open and nothing is loading, for a moment in which none of it changes. */
export async function settled(page: Page): Promise<void> {
  let quietSince = performance.now();
  for (const deadline = quietSince + SETTLED_WITHIN_MS; performance.now() < deadline; await delay(20)) {
    const isLoading = await page
      .evaluate(async () => {
        // What an answer has changed is drawn before the browser is idle.
        await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1_000 }));
        const isDrawn = document.getElementById('root')?.childElementCount !== 0;
        return !isDrawn || document.querySelector('.loading, .skeleton, [aria-busy=true]') !== null;
      })
      // The page is navigating.
      .catch(() => true);
    const now = performance.now();
    if (isLoading || (openRequests.get(page)?.size ?? 0) > 0) quietSince = now;
    else if (now - quietSince >= QUIET_MS) return;
  }
  throw new Error(`${page.url()} is still loading: ${[...(openRequests.get(page) ?? [])].map((each) => each.url())}`);
}

/** Counts the requests of a page for `settled`. */
function countRequests(page: Page): void {
  const open = new Set<Request>();
  openRequests.set(page, open);
  page.on('request', (request) => !/\/stack\/v1\/stream(?:\?|$)/.test(request.url()) && open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

type Violation = Readonly<Record<'id' | 'impact' | 'help', string>> & { readonly nodes: readonly { html: string }[] };
type Axe = { readonly axe: { run(context: Document, options: object): Promise<{ violations: Violation[] }> } };

/** Fails where axe finds anything serious or critical of WCAG 2.2 A and AA. */
export async function assertAccessible(page: Page, rules?: readonly string[]): Promise<void> {
  // The policy lets no script in, and this one is the test's.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  const runOnly = rules
    ? { type: 'rule', values: rules }
    : { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };
  const isSerious = ({ impact }: Violation) => impact === 'serious' || impact === 'critical';
  const check = async () => {
    const violations = await page.evaluate(async (only) => {
      const { axe } = window as unknown as Axe;
      // 2.5.8, which axe leaves out unless it is asked for.
      return (await axe.run(document, { runOnly: only, rules: { 'target-size': { enabled: true } } })).violations;
    }, runOnly);
    return violations.filter(isSerious).map(({ id, help, nodes }) => [id, help, ...nodes.map(({ html }) => html)]);
  };
  // What moves while axe measures is found at most once.
  const found = await check();
  assert.deepEqual(found.length === 0 ? [] : await check(), []);
}

/** Keeps a picture under docs/screenshots where STRATA_SCREENSHOTS says so. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`), fullPage: false });
}

/** Fails where a page has no heading or hardly any text, or says that it has failed: an empty page passes every other check. */
async function assertContent(page: Page, name: string): Promise<void> {
  const { headings, text } = await page.evaluate(() => ({
    headings: [...document.querySelectorAll<HTMLElement>('h1')].map(({ innerText }) => innerText.trim()),
    text: document.querySelector('main')?.innerText.trim() ?? '',
  }));
  assert.ok(headings.length === 1 && headings[0] !== '', `${name} has ${headings.length} headings: ${headings}`);
  // A title and a sentence have more.
  assert.ok(text.length >= 80, `${name} shows nothing but “${text}”`);
  assert.doesNotMatch(text, /Something went wrong|could not be loaded/, name);
}

interface RenderOptions {
  readonly name: string;
  readonly key?: string | undefined;
}

/** A page in light, dark and on a phone: it has content, nothing goes wrong, nothing overflows sideways, axe finds nothing serious. */
export async function assertRenders(browser: Browser, url: string, { name, key }: RenderOptions): Promise<void> {
  await using page = await visit(browser, url, { key });
  for (const variant of ['light', 'dark', 'phone'] as const) {
    await page.emulateMedia({ colorScheme: variant === 'dark' ? 'dark' : 'light' });
    if (variant === 'phone') await page.setViewportSize(PHONE);
    await settled(page);
    await assertContent(page, name);
    await picture(page, `${name}-${variant}`);
    const overflow = await page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth);
    assert.ok(overflow <= 0, `${name} is ${overflow} px wider than the ${variant} screen`);
    if (variant === 'phone') {
      const cut = await page.locator('.table-scroll:visible:has(.minor)').evaluateAll((tables) =>
        tables.flatMap(({ scrollWidth, clientWidth, ariaLabel }) =>
          // A long word may be a little wider.
          scrollWidth > clientWidth + 24 ? [`${ariaLabel}: ${scrollWidth} of ${clientWidth} px`] : [],
        ),
      );
      assert.deepEqual(cut, [], `${name}: main columns are cut off`);
    }
    // Events that arrive while axe measures move what it has measured.
    const pause = page.getByRole('button', { name: 'Pause', exact: true });
    if (await pause.isVisible()) await pause.click();
    // Some violations appear in the dark colours only.
    await assertAccessible(page, variant === 'dark' ? ['color-contrast'] : undefined);
  }
}

/** Holds requests back until the function that it gives is called. */
export async function hold(page: Page, url: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(url, async (route) => {
    await promise;
    await route.fallback();
  });
  return resolve;
}

/** Has the receipt of a part of the page checked, and waits until it holds; `foot` opens what has the button. */
export async function assertReceiptHolds(part: Page | Locator, foot?: string): Promise<void> {
  if (foot) await part.getByText(foot).click();
  await part.getByRole('button', { name: 'Verify' }).click();
  await part.getByText('The receipt is valid').waitFor();
}

/** The answer that the page receives during an action. The demo changes, so a second request may have another answer. */
export async function answerDuring(page: Page, path: string, act: () => Promise<unknown>) {
  const answered = page.waitForResponse((response) => response.url().includes(path));
  await act();
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer that it waits for
  return (await (await answered).json()) as any;
}
