// Every question of the README has an answer in the demo.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { ROLE_LIST } from '@strata/detect';
import { untilAnswer } from '../../support/until.ts';
import { describePages } from '../../support/web/demo.ts';

/** The list of an answer that must not be empty, by the end of the path; other answers are numbers about all domains. */
const LISTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'changes providers migrations customers affected alerts anomalies'.split(' ').map((of) => [of, of]),
  ),
  ...{ search: 'results', 'market-share': 'categories', cloudflare: 'downstream', leaderboard: 'domains' },
  ...{ 'google-workspace': 'curve', 'security-scorecard': 'by_sector' },
};

describePages('the questions of the README', ({ answer }) => {
  const readme = readFileSync(path.join(import.meta.dirname, '../../../README.md'), 'utf8');
  const questions = [...readme.matchAll(/^\| .+\? \| (.+) \|$/gm)].flatMap(([, paths = '']) =>
    [...paths.matchAll(/`([^`]+)`/g)].map(([, each = '']) => each),
  );

  for (const question of questions)
    it(`asks ${question}, which has an answer`, async () => {
      const { migrations } = await answer<{ migrations: { domain: string }[] }>('/stack/v1/stats/migrations?limit=1');
      const { affected } = await answer<{ affected: { domain: string }[] }>('/stack/v1/enrichment/affected?limit=1');
      const known = question.includes('affected') ? affected : migrations;
      const asked = question.replace('summityachts.com', known[0]?.domain ?? '');
      const [, last = ''] = /([\w-]+)(?:\?|$)/.exec(question) ?? [];
      const list = LISTS[last];
      // Feeds and advisories are read after the start.
      type Answer = Record<string, unknown[]>;
      const isSo = (body: Answer) => list === undefined || (body[list]?.length ?? 0) > 0;
      await untilAnswer(asked, () => answer<Answer>(asked), isSo);
    });

  it('are asked of companies that fill every role', async () => {
    type Facets = { readonly facets: readonly { readonly values: readonly { readonly value: string }[] }[] };
    const { facets } = await answer<Facets>('/stack/v1/search?query=state:live&facets=role&limit=1');
    assert.deepEqual(new Set(facets[0]?.values.map(({ value }) => value)), new Set<string>(ROLE_LIST));
  });

  it('are asked of weeks in which something happened on many days, and of companies with sectors', async () => {
    type Moved = { readonly at: string };
    const { migrations } = await answer<{ migrations: Moved[] }>('/stack/v1/stats/migrations?days=30&limit=1000');
    const byDay = Map.groupBy(migrations, ({ at }) => at.slice(0, 10));
    const yesterday = byDay.get(new Date(Date.now() - 86_400_000).toISOString().slice(0, 10))?.length ?? 0;
    assert.ok(byDay.size >= 10 && yesterday < migrations.length / 6, `${yesterday} migrations yesterday`);
    // Parked and unregistered names are no company's.
    const unknown = await answer<{ total: number }>('/stack/v1/search?query=sector:unknown+AND+state:active&limit=1');
    assert.equal(unknown.total, 0);
  });
});
