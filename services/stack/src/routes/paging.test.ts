// Every list with a cursor, paged to its end: the same entries as in one page, each once, also while the list changes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { sharedTimeline } from '../test/timeline.ts';

const { service, sql, inUse } = await sharedTimeline();
const MOST = 'SELECT name, count(*) FROM changes JOIN domains ON domains.id = domain_id GROUP BY 1 ORDER BY 2 DESC, 1';
const LISTS = casesOf<[string, string][]>('stack', 'paged lists').map(
  ([path, list]) =>
    [path.replace('{domain}', String(sql(MOST)[0]?.name)).replace('{provider}', String(inUse[0])), list] as const,
);

interface Body extends Readonly<Record<string, unknown>> {
  readonly next_cursor: string | null;
  readonly offset?: number;
}

async function page(path: string, list: string, parameters: string) {
  const { status, body } = await service.get(`/stack/v1/${path}${path.includes('?') ? '&' : '?'}${parameters}`);
  assert.equal(status, 200, `${path} ${parameters} ${JSON.stringify(body).slice(0, 300)}`);
  const holder = (list.includes('.') ? body[list.split('.')[0] ?? ''] : body) as Body;
  const rows = holder[list.split('.').at(-1) ?? ''] as readonly unknown[];
  return { rows, offset: holder.offset, next_cursor: holder.next_cursor };
}

const cursors = new Map<string, string>();
for (const [path, list] of LISTS)
  it(`a list is paged to its end ${path}`, async () => {
    const complete = await page(path, list, 'limit=1000');
    assert.ok(complete.rows.length < 1_000 && complete.next_cursor === null);
    const limit = Math.max(1, Math.ceil(complete.rows.length / 7));
    const rows: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next = await page(path, list, `limit=${limit}${cursor && `&cursor=${cursor}`}`);
      if (next.offset !== undefined) assert.equal(next.offset, rows.length);
      rows.push(...next.rows);
      cursor = next.next_cursor;
      if (cursor !== null) cursors.set(path, cursor);
    }
    assert.deepEqual(rows, complete.rows);
    assert.ok(rows.length > 1 || /affected|advisories|alerts|anomalies|leaderboard|stream/.test(path), 'pages');
  });

it('a list is paged to its end by its own cursors only: those of another list, and damaged ones, are refused', async () => {
  assert.ok(cursors.size > 8);
  const [, first = ''] = [...cursors][0] ?? [];
  const crafted = Buffer.from('["AAAAAAAAAA",0,[1,"__proto__"]]').toString('base64url');
  const damaged = ['', '%00', 'x'.repeat(2_000), 'bnVsbA', crafted, first.slice(0, -3), `A${first.slice(1)}`, '{}'];
  for (const [path] of LISTS) {
    const foreign = [...cursors].filter(([other]) => other !== path).map(([, cursor]) => cursor);
    for (const cursor of [...foreign, ...damaged]) {
      const { status, body } = await service.get(`/stack/v1/${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`);
      assert.deepEqual([status, body.code, body.errors?.[0]?.field], [400, 'invalid_parameter', 'cursor'], path);
    }
  }
  const both = await service.get(`/stack/v1/search?offset=1&cursor=${cursors.get('search')}`);
  assert.equal(both.body.errors?.[0]?.message, 'cannot be combined with offset');
  assert.equal((await service.get(`/stack/v1/search?limit=9&cursor=${cursors.get('search')}`)).status, 200);
});
