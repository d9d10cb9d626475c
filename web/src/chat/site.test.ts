import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { siteOf } from './site.ts';

describe('what a gateway tells of its site', () => {
  it('is believed as far as it can be used', () => {
    const explorerUrl = 'https://stack.example';
    assert.deepEqual(siteOf({ explorer_url: explorerUrl, free_keys_per_day: 3 }), { explorerUrl, freeKeysPerDay: 3 });
    const nothing = { explorerUrl: null, freeKeysPerDay: 0 };
    for (const body of [null, 7, [], {}, { explorer_url: 'javascript:alert(1)', free_keys_per_day: 'many' }])
      assert.deepEqual(siteOf(body), nothing);
  });
});
