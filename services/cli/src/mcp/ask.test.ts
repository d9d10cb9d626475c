// Inputs to requests, and where a list goes on, without a service.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ask, requestOf } from './ask.ts';
import { KeptAnswers } from './kept-answers.ts';
import { search } from './questions/domains.ts';
import { migrations } from './questions/markets.ts';

describe('a question', () => {
  it('sends several marks as the service takes them', () => {
    const { query } = requestOf(search, { flag: ['dnssec', 'caa'], without: ['bimi'], limit: 1, offset: 0 });
    assert.deepEqual(query, { flag: 'dnssec,caa', without: 'bimi', limit: 1, offset: 0 });
  });

  it('leads on where the list goes on beyond what its total counts', async () => {
    for (const has_more of [true, false]) {
      const body = { total: 1, window_days: 30, flows: [], migrations: [{}], has_more };
      const client = { get: async () => ({ body, text: '{}', quota: null, url: '' }) } as never;
      const { signal } = new AbortController();
      const options = { client, kept: new KeptAnswers(), ledgerKey: undefined, signal };
      const { structuredContent } = await ask(migrations, { limit: 1, offset: 4 }, options);
      const { next_offset } = structuredContent as { readonly next_offset?: number };
      assert.equal(next_offset, has_more ? 5 : undefined);
    }
  });
});
