// Sentences and how their answers begin, from a service that knows the provider Cloudflare and a few domains.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { StackClient } from '@strata/client';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { search } from '../questions/domains.ts';
import { securityScorecard } from '../questions/markets.ts';
import { chatAnswer } from './answer.ts';
import { comparisonLine, type ProviderPage } from './subject-lines.ts';

const DOMAINS = ['summityachts.com', 'world-cupboards.com', 'cupworld.de', 'france.com', 'penalty.net'];
const file = path.join(import.meta.dirname, '../../../../services/stack/src/routes/examples.json');
const examples = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, object>>;

const CHANGE = { at: '2026-11-30T09:57:00Z', category: 'dns', role: 'dns', type: 'migrated', from: 'A', to: 'B' };
const CHANGES_OF: Readonly<Record<string, object>> = {
  '/stack/v1/domains/summityachts.com/changes': { total: 1, changes: [{ ...CHANGE, importance: 'high' }] },
  '/stack/v1/stats/migrations': { flows_total: 2 },
};

/** A search finds domains with all words, in any order, as the service does. */
const fetch = (async (input: string | URL) => {
  const { pathname, searchParams } = new URL(input);
  const [kind = '', name = ''] = decodeURIComponent(pathname).split('/').slice(3);
  const words = (searchParams.get('q') ?? '').toLowerCase().split(' ');
  const results = DOMAINS.filter((domain) => words.every((word) => domain.includes(word)));
  const isKnown =
    kind === 'domains' ? DOMAINS.includes(name) : ['stats', 'intelligence'].includes(kind) || name === 'Cloudflare';
  const isName = kind === 'domains' || kind === 'providers';
  const path = isName ? pathname.replace(name, `{${kind.slice(0, -1)}}`) : pathname;
  const found = { ...examples[path], ...(kind === 'domains' && { domain: name }), ...CHANGES_OF[pathname] };
  const all = { results: results.map((domain) => ({ domain })), total: results.length };
  const body = kind === 'search' ? all : isKnown ? found : null;
  return Response.json(body ?? { code: 'unknown_provider', detail: 'Nearest: Worldpay.' }, {
    status: body ? 200 : 404,
  });
}) as typeof globalThis.fetch;

for (const [text, expected] of casesOf<readonly (readonly [string, string])[]>('questions', 'answers'))
  it(`the answer to “${text}” begins with “${expected}”`, async () => {
    const client = new StackClient({ baseUrl: 'https://strata.test', fetch });
    const { signal } = new AbortController();
    const answer = (await chatAnswer([text], { client, baseUrl: 'https://strata.test', signal })).join('\n');
    // Values of the examples change when they are written again.
    assert.ok(
      expected.startsWith('/') ? new RegExp(`^${expected.slice(1)}`).test(answer) : answer.startsWith(expected),
      answer,
    );
    assert.equal(/^I do not know: /.test(answer), answer.includes('- How many domains use Cloudflare?'));
  });
it('a search says that its list is cut', () => {
  const found = examples['/stack/v1/search'] as Parameters<typeof search.summarize>[0];
  assert.match(search.summarize({ ...found, total: 13 })[0] ?? '', /^13 domains match; the first \d:$/);
});
it('a comparison begins with both figures, of the category if there is one', () => {
  const one = { ...examples['/stack/v1/providers/{provider}'], provider: 'A' } as ProviderPage;
  const two = { ...one, provider: 'B', domains: { ...one.domains, total: one.domains.total + 2 } };
  const share = String.raw`\d+ domains \(\d+\.\d %\)`;
  assert.match(comparisonLine([one, two], undefined), new RegExp(`^A ${share}, B ${share}: 2 more for B\\.$`));
  assert.match(comparisonLine([one, two], 'cdn'), new RegExp(`^A ${share}, B ${share} for cdn: as many\\.$`));
  assert.equal(comparisonLine([one], 'email'), 'A 0 domains (0.0 %) for email.');
});
it('the policies of DMARC add up to its domains, and with those without it to the measured ones', () => {
  const body = examples['/stack/v1/intelligence/security-scorecard'] as never;
  const line = securityScorecard.summarize(body)[1]?.replace(/\(.*\)/, '') ?? '';
  const [domains = 0, measured, none = 0, quarantine = 0, reject = 0, without = 0] = (line.match(/\d+/g) ?? []).map(
    Number,
  );
  assert.deepEqual([none + quarantine + reject, domains + without], [domains, measured], line);
  assert.ok(without > 0);
});
