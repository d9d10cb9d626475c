import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { compileRulebook, loadCatalog } from '@strata/detect';
import { entries } from './index.ts';

describe('the catalog', () => {
  const providers = loadCatalog(entries);
  const rulebook = compileRulebook(providers);

  it('is valid: every entry fits the schema, ids, names, aliases and patterns are unique', () => {
    assert.equal(providers.length, entries.length);
  });

  it('names at least 300 providers', () => {
    assert.ok(providers.length >= 300, `${providers.length} providers`);
  });

  it('covers every category', () => {
    const least = {
      dns: 60,
      email: 40,
      email_security: 40,
      email_sending: 50,
      hosting: 40,
      cdn: 20,
      security: 10,
      verified_service: 60,
      certificate_authority: 20,
      web_platform: 50,
    };
    const count = (category: string) =>
      providers.filter((provider) => provider.rules.some((group) => group.category === category)).length;
    for (const [category, minimum] of Object.entries(least)) {
      assert.ok(count(category) >= minimum, `${category}: ${count(category)}`);
    }
  });

  it('asks each domain for few extra names, for every one costs a query', () => {
    assert.ok(rulebook.probeLabels.length <= 16, rulebook.probeLabels.join(' '));
  });

  it('lists every file, and every file is sorted by id', () => {
    const names = globSync('*.json', { cwd: import.meta.dirname }).filter((name) => name !== 'package.json');
    const ids: string[] = [];
    for (const name of names) {
      const listed = JSON.parse(readFileSync(path.join(import.meta.dirname, name), 'utf8')).map(
        (p: { id: string }) => p.id,
      );
      assert.deepEqual(listed, listed.toSorted(), name);
      ids.push(...listed);
    }
    assert.deepEqual(ids.toSorted(), providers.map((provider) => provider.id).toSorted());
  });
});
