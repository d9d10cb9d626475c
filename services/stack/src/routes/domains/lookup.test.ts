// Bulk look-ups: what each body means, the three formats of the answer, and bodies that cannot be used.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mainRoleOf } from '@strata/detect';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { assertDescribed, sharedService } from '../../test/index.ts';
import { roleCells } from './role-columns.ts';

const PATH = '/stack/v1/domains:lookup';
const [JSON_TYPE, CSV, NDJSON] = ['application/json', 'text/csv', 'application/x-ndjson'] as const;
type Row = Record<string, unknown>;
const service = await sharedService();
const key = await service.newKey();
const active = (await service.get('/stack/v1/search?state=active&limit=2')).body.results;
const [a = '', b = ''] = (active as { domain: string }[]).map(({ domain }) => domain);

async function ask(body: unknown, { type = JSON_TYPE as string, query = '', accept = '*/*' } = {}) {
  const headers = { 'content-type': type, accept, 'x-stack-key': key };
  const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const answer = await fetch(`${service.base}${PATH}${query}`, { method: 'POST', headers, body: sent as string });
  const text = await answer.text();
  const isJson = /(?:problem\+|\/)json/.test(answer.headers.get('content-type') ?? '');
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of these bodies
  const read: any = isJson ? JSON.parse(text) : {};
  return { status: answer.status, headers: answer.headers, text, body: read, rows: read.rows };
}

it('a look-up answers each name once, in the order given: known, unknown, invalid and repeated ones', async () => {
  const domains = [a, `www.${b.toUpperCase()}`, 'never-scanned.com', 'co.uk', '=1+1', '', '\ud800', 'x'.repeat(500), a];
  const { status, body, rows } = await ask({ domains });
  assert.equal(status, 200);
  assertDescribed(PATH, body, { method: 'post' });
  assert.ok(body.provenance.receipt_id);
  const states = rows.map(({ registrable, state, error }: Row) => [registrable, state, typeof error]);
  const invalid = [null, 'invalid', 'string'];
  const [first, second] = [a, b].map((domain) => [domain, 'active', 'object']);
  const unknown = ['never-scanned.com', 'unknown', 'object'];
  assert.deepEqual(states, [first, second, unknown, ...Array(5).fill(invalid), first]);
  const given = domains.map((name) => name.slice(0, 253).toWellFormed());
  const found = rows.map(({ domain }: Row) => domain);
  assert.deepEqual(found, given);
});
it('a look-up leaves out services of low confidence', () => {
  const email = (provider: string, confidence: 'high' | 'medium' | 'low') => ['email', provider, confidence] as const;
  const services = [email('sure', 'high'), email('hinted', 'low'), email('likely', 'medium')];
  assert.deepEqual(roleCells({ services }, ['mailbox', 'dns'], { roleOf: mainRoleOf }), ['sure;likely', '']);
});
it('a look-up has the values of the profile', async () => {
  const profile = (await service.get(`/stack/v1/domains/${a}`)).body;
  const { rows } = await ask({ domains: [a] });
  const services = profile.services as unknown as { role: string; provider_id: string; confidence: string }[];
  for (const role of new Set(services.map((each) => each.role))) {
    const sure = services.filter((each) => each.role === role && each.confidence !== 'low');
    const ids = String(rows[0][role]).split(';').filter(Boolean);
    assert.deepEqual(ids.sort(), sure.map((each) => each.provider_id).sort(), role);
  }
  const { score, grade } = profile.security as unknown as { score: number; grade: string };
  const [{ first_seen, changed_at } = {}] = (await service.get(`/stack/v1/search?q=${a}`)).body.results as Row[];
  const { scanned_at, sector } = profile;
  assert.partialDeepStrictEqual(rows[0], { first_seen, changed_at, scanned_at, sector, score, grade });
});

for (const [type, body] of casesOf<[string, string][]>('stack', 'bodies of look-ups'))
  it(`a look-up reads ${type}: ${body.slice(0, 60)}`, async () => {
    const sent = body.replaceAll('$a', a).replaceAll('$b', b);
    const { rows } = await ask(sent, { type, query: '?fields=state,registrable' });
    const found = rows.map(({ state, registrable }: Row) => `${state} ${registrable}`);
    assert.deepEqual(found, [`active ${a}`, `active ${b}`, 'invalid null']);
  });

it('a look-up is JSON, CSV, NDJSON or Parquet, with the chosen columns in their order; formulas are defused', async () => {
  const body = { domains: ['=1+1', a], fields: ['state', 'domain', 'state'] };
  const csv = `state,domain\r\ninvalid,'=1+1\r\nactive,${a}\r\n`;
  const ndjson = `{"state":"invalid","domain":"=1+1"}\n{"state":"active","domain":"${a}"}\n`;
  type Form = [accept: string, query: string, begin: string, type: string];
  for (const [accept, query, begin, type] of casesOf<Form[]>('stack', 'forms of look-ups')) {
    const { text, headers } = await ask(body, { accept, query });
    const expected = { CSV: csv, NDJSON: ndjson }[begin] ?? begin;
    assert.equal(text.slice(0, expected.length), expected);
    assert.match(headers.get('content-type') ?? '', new RegExp(type));
    assert.equal(headers.has('stack-provenance'), !text.startsWith('{"_'));
  }
});
it('a look-up reads URLs and e-mail addresses, in UTF-16 too, and answers them as given', async () => {
  const given = [`https://www.${a}/x`, `info@${a}`, `mailto:Info@${b.toUpperCase()}`, 'info@co.uk'];
  const { rows } = await ask(Buffer.from(`\ufeffurl\n${given.join('\n')}`, 'utf16le'), { type: CSV });
  const found = rows.map(({ domain, registrable, state }: Row) => [domain, registrable, state]);
  const expected = [a, a, b].map((domain, i) => [given[i], domain, 'active']);
  assert.deepEqual(found, [...expected, [given[3], null, 'invalid']]);
});
it('a look-up returns the other columns of CSV, under names of their own', async () => {
  const asked = { type: CSV, query: '?fields=score,domain&format=csv' };
  const named = await ask('domain, Score ,,note,note\nnever.com,high,x,"=1,2",n,more\nb.c', asked);
  const rows = [',never.com,high,x,"\'=1,2",n', ',b.c,,,,'];
  assert.deepEqual(named.text.split('\r\n'), ['score,domain,given_Score,column_3,note,given_note', ...rows, '']);
  const { rows: objects } = await ask('never.com,7\nx,__proto__', { type: CSV, query: '?fields=state' });
  const cells = objects.map(({ state, column_2 }: Row) => `${state} ${column_2}`);
  assert.deepEqual(cells, ['unknown 7', 'invalid __proto__']);
  assert.deepEqual(Object.keys(objects[1]), ['state', 'column_2']);
});

const many = (count: number) => Array(count).fill('a.com');
type Refusal = readonly [why: string, body: unknown, options: Parameters<typeof ask>[1], status: number, says: string];
for (const [why, body, options, status, says] of [
  ...casesOf<Refusal[]>('stack', 'refused look-ups'),
  ['1,001 names', { domains: many(1_001) }, {}, 400, 'domains: must have 1 to 1000 names'],
  ['1,001 rows', many(1_001).join('\n'), { type: CSV }, 400, 'body: must have 1 to 1000'],
  ['1,001 lines', '"a.com"\n'.repeat(1_001), { type: NDJSON }, 400, 'body: must have'],
  ['100,000 numbers', { domains: Array(100_000).fill(1) }, {}, 400, 'domains: must have'],
  ['101 columns', `a.com${',x'.repeat(100)}`, { type: CSV }, 400, 'more than 100 columns'],
  ['binary', Uint8Array.of(0xff, 0xfe, 0), { type: CSV }, 400, 'not text in UTF-8'],
  ['a large body', 'a.com\n'.repeat(60_000), { type: CSV }, 413, 'too large'],
] as readonly Refusal[])
  it(`a look-up refuses ${why}`, async () => {
    const { body: problem, ...answer } = await ask(body, options);
    assert.equal(answer.status, status, answer.text.slice(0, 300));
    const errors = (problem.errors ?? []).map(({ field, message }: Record<string, string>) => `${field}: ${message}`);
    assert.match(`${problem.detail} ${errors.join(' ')}`, new RegExp(says));
  });

it('a look-up needs a key, and its body stays unsupported elsewhere', async () => {
  const headers = { 'content-type': CSV };
  assert.equal((await service.fromElsewhere(PATH, { method: 'POST' })).status, 401);
  assert.equal((await service.fromElsewhere('/keys', { method: 'POST', headers })).status, 415);
});
