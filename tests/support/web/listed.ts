// Follows a number on a page to the list behind it; both counts must be equal.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { settled } from './browser.ts';

/** Where each list shows how long it is: a selector, the text that the element has, and the number in it. */
const TOTALS = {
  search: ['.search-results [role=status]', /domains?$/, /(?:of )?([\d,]+|No) domains?$/],
  domains: ['h2', /^[\d,]+ domains?$/, /^([\d,]+) domains?$/],
  customers: ['h2', /since/, /^([\d,]+) domains? (?:lost|gained)/],
  migrations: ['h2', /^[\d,]+ migrations?/, /^([\d,]+) migrations?/],
} as const;
type ListKind = keyof typeof TOTALS;

/** The first link in a column of a table; the tables of charts are unfolded. */
function inTable(name: string | RegExp, column: string): (page: Page) => Promise<Locator> {
  return async (page) => {
    const table = page.getByRole('region', { name, exact: true }).first();
    const names = (await table.getByRole('columnheader').allInnerTexts()).map((text) => text.trim());
    assert.ok(names.includes(column), `${name} has ${names.join(', ')}`);
    return table.locator(`tbody tr td:nth-child(${names.indexOf(column) + 1}) a`).first();
  };
}

/** The number of a figure. */
function inFigure(name: string): (page: Page) => Locator {
  return (page) => page.locator('.figure', { has: page.getByText(name, { exact: true }) }).locator('.figure-value a');
}

/** The number in a heading. */
function inHeading(name: RegExp): (page: Page) => Locator {
  return (page) => page.getByRole('heading', { name }).getByRole('link').first();
}

/** A case of vectors/cases/web.json; a name that begins with `^` is a regular expression. */
export type NumberCase = readonly [string, string, ListKind, 'table' | 'figure' | 'heading', string, string?];
export function linkOf([, , , kind, name, column = '']: NumberCase): LinkOf {
  if (kind === 'table') return inTable(name.startsWith('^') ? new RegExp(name) : name, column);
  return kind === 'figure' ? inFigure(name) : inHeading(new RegExp(name));
}

/** The link that is a number. */
type LinkOf = (page: Page) => Locator | Promise<Locator>;

/** A demo on a busy machine may measure less in one scan and more in the next: then the comparison is repeated. */
const ATTEMPTS = 4;

/**
 * Follows a number to its list and compares the two. The demo's companies move at the same time: the list may have what lies between
 * the number before and the number after, which is the same number where nothing happened.
 */
export async function assertListed(page: Page, of: LinkOf, list: ListKind): Promise<void> {
  const address = page.url();
  const [selector, hasText, number] = TOTALS[list];
  const total = page.locator(selector, { hasText });
  const attempts: string[] = [];
  let before = await numberAt(page, of);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await (await of(page)).click();
    await total.waitFor();
    await settled(page);
    const listed = numberIn(number.exec((await total.innerText()).trim())?.[1]);
    if (listed === before) return;
    await page.goto(address);
    const after = await numberAt(page, of);
    if (listed >= Math.min(before, after) && listed <= Math.max(before, after)) return;
    attempts.push(`${before}, ${listed} in the list, ${after}`);
    before = after;
  }
  assert.fail(`${address}: ${attempts.join('; ')}`);
}

/** A share has its count as its title. */
async function numberAt(page: Page, of: LinkOf): Promise<number> {
  await settled(page);
  for (const summary of await page.getByText('View as table').all()) await summary.click();
  const link = await of(page);
  return numberIn(await link.evaluate((node) => (node as HTMLElement).title || (node as HTMLElement).innerText));
}

function numberIn(text: string | undefined): number {
  if (text === 'No') return 0;
  assert.match(text ?? '', /^[\d,]+$/);
  return Number(text?.replaceAll(',', ''));
}
