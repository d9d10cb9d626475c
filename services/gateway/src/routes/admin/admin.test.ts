// The admin API: its keys, changes that take effect at once, usage and its CSV, and the log of changes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { casesOf, until } from '../../../../../tests/support/index.ts';
import { type Harness, type Json, MODEL } from '../../test/harness.ts';

import { MESSAGES, startOnSharedEngine } from '../../test/shared.ts';

const chat = { model: MODEL, messages: MESSAGES, max_tokens: 4 };

describe('the admin API', () => {
  let service: Harness;
  let admin: { readonly id: string; readonly headers: Record<string, string> };
  before(async () => {
    service = await startOnSharedEngine();
    const { keys } = service.running.gateway;
    const { key, stored } = await keys.create({ tier: 'unlimited', policy: { isAdmin: true } });
    admin = { id: stored.id, headers: { authorization: `Bearer ${key}` } };
  });
  after(() => service?.[Symbol.asyncDispose]());

  const ask = async (method: string, path: string, body?: unknown, headers = admin.headers) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(`${service.base}/admin/${path}`, {
      method,
      headers: { ...headers, ...type },
      ...json,
    });
    const text = await response.text();
    const answer: Json = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, body: answer, text };
  };
  const create = async (fields: object) => {
    const { status, body } = await ask('POST', 'keys', { tier: 'unlimited', ...fields });
    assert.equal(status, 201, JSON.stringify(body));
    return { ...body, as: { authorization: `Bearer ${body.key}` } };
  };

  it('takes admin keys only, which do nothing else, and no requests of pages of other sites', async () => {
    const user = { authorization: `Bearer ${service.key}` };
    const refusals = [
      [await ask('GET', 'keys', undefined, user), 403, 'insufficient_permissions'],
      [await ask('DELETE', `keys/${admin.id}`, undefined, user), 403, 'insufficient_permissions'],
      [await ask('GET', 'keys', undefined, {}), 401, 'invalid_api_key'],
      [await ask('GET', 'keys', undefined, { ...admin.headers, origin: 'https://other.example' }), 403, 'foreign_page'],
      [await service.post('/v1/chat/completions', chat, admin.headers), 403, 'insufficient_permissions'],
      [await service.get('/v1/models', admin.headers), 403, 'insufficient_permissions'],
      [await ask('POST', `keys/${admin.id}/rotate`, {}), 403, 'insufficient_permissions'],
      [await ask('POST', `keys/${admin.id}`, { label: 'x' }), 403, 'insufficient_permissions'],
    ] as const;
    for (const [{ status, body }, expected, code] of refusals)
      assert.deepEqual([status, body.error.code], [expected, code]);
  });

  it('refuses what is not in its schemas, by field', async () => {
    for (const [method, path, body, field] of casesOf<[string, string, unknown, string][]>(
      'gateway',
      'refused administration',
    )) {
      const { status, body: answer } = await ask(method, path, body ?? undefined);
      assert.deepEqual(
        [status, answer.error.param],
        [400, field],
        `${path} ${JSON.stringify(body)}: ${answer.error.message}`,
      );
    }
    for (const path of ['keys/key_unknown', 'keys/..%2fteams', 'prices/none']) {
      const { status } = await ask('DELETE', path);
      assert.ok(status === 404 || status === 400, path);
    }
  });

  it('changes what a key may do at once: models, expiry, rotation and revocation', async () => {
    const { id, as } = await create({ models: ['other'] });
    const completion = () => service.post('/v1/chat/completions', chat, as);
    const models = async () => (await service.get('/v1/models', as)).body.data.map((each: Json) => each.id);
    const refused = await completion();
    assert.deepEqual([refused.status, refused.body.error.code], [404, 'model_not_found']);
    assert.ok(!refused.body.error.message.includes('Available models'), refused.body.error.message);
    assert.deepEqual([await models(), (await service.get(`/v1/models/${MODEL}`, as)).status], [[], 404]);
    assert.equal((await ask('POST', `keys/${id}`, { models: ['other', MODEL] })).status, 200);
    assert.deepEqual([(await completion()).status, await models()], [200, [MODEL]]);
    const { body: rotated } = await ask('POST', `keys/${id}/rotate`, { overlap_seconds: 60 });
    assert.deepEqual([(await completion()).status, rotated.id], [200, id]);
    const fresh = { authorization: `Bearer ${rotated.key}` };
    await ask('POST', `keys/${id}/rotate`, { overlap_seconds: 0 });
    assert.equal((await service.get('/v1/models', as)).status, 401);
    assert.equal((await service.get('/v1/models', fresh)).status, 401, 'the one before the last has ended too');
    const other = await create({});
    assert.equal((await ask('POST', `keys/${other.id}`, { expires_at: '2020-01-01T00:00:00Z' })).status, 200);
    assert.equal((await service.get('/v1/models', other.as)).status, 401);
    const third = await create({});
    assert.equal((await service.get('/v1/models', third.as)).status, 200);
    assert.deepEqual((await ask('DELETE', `keys/${third.id}`)).body, { id: third.id, revoked: true });
    assert.equal((await service.get('/v1/models', third.as)).status, 401);
    assert.equal((await ask('DELETE', `keys/${third.id}`)).status, 404);
  });

  it('limits the spending of a team, and shows it by key and as CSV without formulas', async () => {
    await ask('PUT', `prices/${MODEL}`, { input_micros: 1_000_000, output_micros: 2_000_000 });
    await ask('PUT', 'teams/research', { spend_limit: { micros: 200, period: 'day' } });
    const { id, as } = await create({ team: 'research', label: '=HYPERLINK("x")' });
    const first = await service.post('/v1/chat/completions', chat, as);
    const { prompt_tokens: prompt, completion_tokens: completion } = first.body.usage;
    const spend_micros = prompt + 2 * completion;
    const receipt = () => service.get(`/v1/receipts/${first.headers.get('x-receipt-id')}`, as);
    assert.deepEqual((await receipt()).body.charge, { spend_micros, accounts: ['spend:day:team/research'] });
    const above = await service.post('/v1/chat/completions', { ...chat, max_tokens: 150 }, as);
    assert.deepEqual(
      [above.status, above.body.error.code, above.headers.get('x-should-retry')],
      [429, 'insufficient_quota', 'false'],
    );
    const used = () => ask('GET', `usage?by=team&key=${id}`);
    await until(async () => (await used()).body.data.length === 1);
    assert.partialDeepStrictEqual((await used()).body.data, [
      { team: 'research', key_id: null, model: null, requests: 1, spend_micros },
    ]);
    const [row] = (await ask('GET', 'usage?team=research')).body.data;
    assert.partialDeepStrictEqual(row, { key_id: id, label: '=HYPERLINK("x")', model: MODEL, prompt_tokens: prompt });
    const csv = await ask('GET', `usage.csv?key=${id}`);
    assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="usage.csv"');
    const cached = row.cached_tokens;
    const cells = `${id},"'=HYPERLINK(""x"")",research,${MODEL},1,${prompt},${cached},${completion},${spend_micros}\r\n`;
    assert.ok(csv.text.startsWith('day,key_id,label,team,model,') && csv.text.endsWith(cells), csv.text);
    assert.match((await ask('GET', `usage.csv?key=${id}&by=model`)).text, new RegExp(`\\d,,,,${MODEL},1,`));
    await ask('DELETE', `prices/${MODEL}`);
    assert.equal((await service.post('/v1/chat/completions', chat, as)).body.error.code, 'unsupported_value');
  });

  it('removes a team without active keys, or with them', async () => {
    await ask('PUT', 'teams/old', {});
    const { id, as } = await create({ team: 'old' });
    const refused = await ask('DELETE', 'teams/old');
    assert.deepEqual([refused.status, refused.body.error.param], [400, 'revoke_keys']);
    const { body } = await ask('DELETE', 'teams/old?revoke_keys=true');
    assert.deepEqual(body, { id: 'old', removed: true, revoked_keys: 1 });
    assert.equal((await service.get('/v1/models', as)).status, 401);
    assert.equal((await ask('DELETE', 'teams/old')).status, 404);
    const log: Json[] = (await ask('GET', 'audit?limit=2')).body.data;
    assert.deepEqual(
      log.map(({ action, target }) => `${action} ${target}`),
      ['team.remove old', `key.revoke ${id}`],
    );
  });

  it('logs changes with the key that made them and without secrets, and pages its lists', async () => {
    const { id, key } = await create({ label: 'logged', tokens_per_day: 5, expires_at: '2999-12-31T23:59:59.999Z' });
    const { body } = await ask('GET', 'audit?limit=1');
    const [entry] = body.data;
    assert.deepEqual([entry.actor, entry.action, entry.target, entry.before], [admin.id, 'key.create', id, null]);
    const { id: _, created_at, revoked_at, ...shown } = (await ask('GET', `keys/${id}`)).body;
    assert.deepEqual(entry.after, shown, 'in the names of the API');
    assert.notEqual((await ask('GET', `audit?limit=1&cursor=${body.next_cursor}`)).body.data[0].target, id);
    const log = (await ask('GET', 'audit')).text;
    assert.ok(!log.includes(key) && !log.includes('hash'));
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const page = (await ask('GET', `keys?limit=2${cursor}`)).body;
      ids.push(...page.data.map((each: Json) => each.id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    assert.deepEqual(
      ids,
      (await ask('GET', 'keys')).body.data.map((each: Json) => each.id),
    );
    assert.equal((await ask('GET', `keys/${id}`)).body.tokens_per_day, 5);
  });
});
