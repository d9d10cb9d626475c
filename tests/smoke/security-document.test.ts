// docs/security.md against the tests that it names.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

const root = path.join(import.meta.dirname, '../..');
const text = readFileSync(path.join(root, 'docs/security.md'), 'utf8');
const named = new Set([...text.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file = '']) => file));

it('docs/security.md names tests that exist, and every test of tests/full/security', () => {
  for (const file of named) assert.ok(existsSync(path.join(root, file)), file);
  for (const file of globSync('tests/full/security/*.test.ts', { cwd: root })) assert.ok(named.has(file), file);
});
