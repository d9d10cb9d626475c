// What the README says must be so.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { createInternet } from '@strata/testnet';

const root = path.join(import.meta.dirname, '..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');

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

  it('names only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...readme.matchAll(/npm (?:run )?(start|test|demo|check|bench)\b/g)].map((match) => match[1] ?? '');
    assert.ok(named.length >= 5);
    for (const name of named) assert.ok(scripts[name], name);
  });
});
