// What the README says must be so.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createInternet } from '@strata/testnet';

const root = path.join(import.meta.dirname, '../..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

/** What the command says of itself; nothing when there is no such command. */
async function helpOf(words: readonly string[]): Promise<string> {
  const main = path.join(root, 'services/cli/src/main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...words, '--help']);
  return stdout;
}

describe('the README', () => {
  it("asks for a company that the demo's internet has, and that is there", async () => {
    await using internet = await createInternet({ domains: 500, migrationShare: 0.01 });
    const domains = new Set([...readme.matchAll(/\/domains\/([a-z0-9.-]+)/g)].map((match) => match[1] ?? ''));
    assert.equal(domains.size, 1);
    for (const domain of domains) assert.equal(internet.truth(domain).state, 'active');
  });

  it('leads only to files that exist', () => {
    for (const [, target = ''] of readme.matchAll(/\]\(([^)#:]+)\)/g))
      assert.ok(existsSync(path.join(root, target)), target);
  });

  it('leads to every page of the docs', () => {
    // storage.md is for those who read the code: architecture.md leads there.
    for (const page of readdirSync(path.join(root, 'docs')))
      if (page.endsWith('.md') && page !== 'storage.md') assert.ok(readme.includes(`(docs/${page})`), page);
  });

  it('names only commands and options that there are, and files to lend that are here', async () => {
    const lines = [...readme.matchAll(/npx strata ((?:[a-z]+ )+[^`#\n]*)/g)].map((match) => match[1] ?? '');
    assert.ok(lines.length >= 12);
    const words = (line: string) => /^(?:(?:stack|inference|network|keys) )*[a-z]+/.exec(line)?.[0] ?? '';
    const helps = new Map<string, string>();
    for (const command of new Set(lines.map(words))) helps.set(command, await helpOf(command.split(' ')));
    for (const line of lines) {
      const help = helps.get(words(line)) ?? '';
      assert.match(help, new RegExp(`^Usage: strata ${words(line)} `), line);
      for (const [option] of line.matchAll(/--[a-z-]+/g)) assert.match(help, new RegExp(`${option}\\b`), line);
      for (const [, file = ''] of line.matchAll(/--model (packages\S+)/g))
        assert.ok(existsSync(path.join(root, file)), file);
    }
  });

  it('names only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...readme.matchAll(/npm (?:run )?(start|test|demo|check|bench)\b/g)].map((match) => match[1] ?? '');
    assert.ok(named.length >= 5);
    for (const name of named) assert.ok(scripts[name], name);
  });
});
