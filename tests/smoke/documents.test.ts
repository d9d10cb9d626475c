// What the documents name is there: commands, options, files, tests and domains.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { createInternet } from '@strata/testnet';
import { runStrata } from '../../services/cli/src/test/run-strata.ts';

const root = path.join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const assertExists = (file: string) => assert.ok(existsSync(path.join(root, file)), file);
/** What the first group of a pattern finds in a text, in order. */
const namedIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

const readme = read('README.md');

it("the README asks for a company that the demo's internet has, and that is there", async () => {
  await using internet = await createInternet({ domains: 500, migrationShare: 0.01 });
  const [domain = '', ...rest] = new Set(namedIn(readme, /\/domains\/([a-z0-9.-]+)/g));
  assert.deepEqual([rest, internet.truth(domain).state], [[], 'active']);
});

it('the README has at most 150 lines, and asks only for paths that the API has', () => {
  assert.ok(readme.split('\n').length <= 151);
  const { paths } = JSON.parse(read('openapi/stack.json')) as { paths: Record<string, unknown> };
  const known = Object.keys(paths).map((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
  for (const asked of namedIn(readme, /(\/stack\/v1\/[\w./-]+)/g))
    assert.ok(
      known.some((each) => each.test(asked)),
      asked,
    );
});

it('the README names only commands and options that exist, and models to contribute that are here', async () => {
  const lines = namedIn(readme, /npx strata ((?:[a-z]+ )+[^`#\n]*)/g);
  assert.ok(lines.length >= 12);
  const commandOf = (line: string) =>
    /^(?:(?:stack|inference|network|keys|segment|watch) )*[a-z]+/.exec(line)?.[0] ?? '';
  const helps = new Map<string, string>();
  for (const command of new Set(lines.map(commandOf)))
    helps.set(command, (await runStrata(`${command} --help`)).stdout);
  for (const line of lines) {
    const help = helps.get(commandOf(line)) ?? '';
    assert.match(help, new RegExp(`^Usage: strata ${commandOf(line)} `), line);
    for (const [option] of line.matchAll(/--[a-z-]+/g)) assert.match(help, new RegExp(`${option}\\b`), line);
    for (const file of namedIn(line, /--model (packages\S+)/g)) assertExists(file);
  }
});

it('the README names only scripts that exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = namedIn(readme, /(?:^|`|=\S+ )npm (?!ci\b|install\b)(?:run )?([a-z][\w:-]*)/gm);
  assert.ok(named.length >= 8);
  for (const name of named) assert.ok(scripts[name], name);
});

const pages = globSync('{*,bench/*,docs/**/*}.md', { cwd: root }).filter((page) => page !== 'CHANGELOG.md');
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');

it('the docs have at most 30,200 words, and lines of at most 120 characters but for tables', () => {
  const words = pages
    .filter((page) => page.startsWith('docs/'))
    .flatMap((page) => read(page).match(/\S*[\p{L}\p{N}]\S*/gu) ?? []);
  assert.ok(words.length <= 30_200, `${words.length} words`);
  for (const page of pages) assert.doesNotMatch(read(page), /^(?!\|).{121,}$/mu, page);
});

it('the docs link only to files and headings that exist, and are all in docs/README.md', () => {
  for (const page of pages)
    for (const target of namedIn(read(page), /\]\((?![a-z]+:)([^)\s]+)\)/g)) {
      const [file = '', anchor] = target.split('#');
      const at = file ? path.join(path.dirname(page), file) : page;
      assertExists(at);
      if (!anchor) continue;
      const anchors = namedIn(read(at), /^#+ (.+)$/gm).map(anchorOf);
      assert.ok(anchors.includes(anchor), `${page}: ${target}`);
    }
  for (const page of globSync('*.md', { cwd: path.join(root, 'docs') }))
    assert.ok(page === 'README.md' || read('docs/README.md').includes(`(${page})`), page);
});

it('docs/pitfalls.md lists forty pitfalls, and the tests that it names exist', () => {
  const rows = [...read('docs/pitfalls.md').matchAll(/^\| (\d+) \|(.*)\|(.*)\|$/gm)];
  const expected = Array.from({ length: 40 }, (_, i) => i + 1);
  const numbers = rows.map(([, number]) => Number(number));
  assert.deepEqual(numbers, expected);
  for (const [, number, , test = ''] of rows) {
    const [, file = '', title = ''] = /`([^`]+)`: `([^`]+)`/.exec(test) ?? [];
    // One installation cannot see answers that differ by location.
    if (number === '21') assert.equal(file, '');
    else
      assert.ok(
        title && read(file).includes(file.startsWith('tests/') ? `it('${title} ` : title),
        `${number}: ${test}`,
      );
  }
});

it('docs/security.md names tests that exist, and every test of tests/full/security', () => {
  const named = new Set(namedIn(read('docs/security.md'), /`([\w./-]+\.test\.ts)`/g));
  for (const file of named) assertExists(file);
  for (const file of globSync('tests/full/security/*.test.ts', { cwd: root })) assert.ok(named.has(file), file);
});
