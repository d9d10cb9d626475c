import assert from 'node:assert/strict';
import { it } from 'node:test';
import { memoryAnalytics } from './memory-analytics.ts';
import { indexOf, plainDomain, plainDomains, using } from './test/firms.ts';

it('the total of a search is that of its page, also if the index changes between two facets', async () => {
  const acme = using('dns acme high');
  const index = indexOf(plainDomains([3, acme]));
  let id = 4;
  const { search } = memoryAnalytics(index, { yieldToEventLoop: async () => index.put(plainDomain(id++, acme)) });
  for (const filter of [{ provider: 'acme' }, {}]) {
    const { total, domains } = await search({ filter, limit: 9, offset: 0, facets: ['tld', 'dns'] });
    assert.equal(total, domains.length);
  }
});
