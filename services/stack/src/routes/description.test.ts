// The description of the API: what it says, that it is the committed one, that its examples fit it, and that live answers keep to it.
// Its tags, version and security: tests/smoke/endpoints.test.ts; its references and ids: packages/http.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { assertDescribed, company, sharedService } from '../test/index.ts';
import { stackOpenApi } from './index.ts';

interface Described {
  readonly responses: Record<string, { readonly content: Record<string, { readonly example?: unknown }> }>;
}
const document = stackOpenApi() as unknown as {
  readonly paths: Record<string, { readonly get?: Described; readonly post?: Described }>;
};
const service = await sharedService();

it('the OpenAPI document is the one on disk; `npm run openapi` rewrites it', () => {
  const file = path.join(import.meta.dirname, '../../../../openapi/stack.json');
  assert.equal(readFileSync(file, 'utf8'), `${JSON.stringify(document, null, 2)}\n`);
});
it('the OpenAPI document shows an example of every answer that its schema allows', () => {
  for (const [at, { get, post }] of Object.entries(document.paths)) {
    if (!at.startsWith('/stack/v1/') || at === '/stack/v1/stream') continue;
    const method = get && !at.startsWith('/stack/v1/exports/') ? 'get' : 'post';
    const { responses } = (method === 'get' ? get : post) ?? { responses: {} };
    const status = responses['200'] ? 200 : 202;
    const [[type, { example }] = ['', {}]] = Object.entries(responses[status]?.content ?? {});
    // Files have no example.
    if (/\/file$|\.atom$/.test(at)) continue;
    assert.ok(example, at);
    if (type === 'text/csv') assert.match(String(example), /^[a-z_,]+\r\n[^\r\n]+/);
    else assertDescribed(at, example, { method, status });
  }
});
it('the examples agree about the times of a domain', () => {
  const times = new Map<string, string>();
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'examples.json'), 'utf8'), (_, value) => {
    const { domain, scanned_at: scanned, first_seen: first, changed_at: changed } = value ?? {};
    if (!scanned || !first) return value;
    assert.ok(first <= (changed ?? first) && (changed ?? first) <= scanned, domain);
    assert.equal(times.get(domain) ?? `${first} ${changed}`, `${first} ${changed}`, domain);
    return times.set(domain, `${first} ${changed}`) && value;
  });
  assert.ok(times.size > 1);
});
it('a live answer keeps to its schema, whatever its status', async () => {
  const asked = casesOf<[string, string, number][]>('stack', 'answers whose schema is checked');
  for (const [at, path, status] of asked) {
    const target = path.replace('$company', company(service.internet, 1));
    const answer = await (at === '/keys' ? service.fromElsewhere(target, { method: 'POST' }) : service.get(target));
    assert.equal(answer.status, status, target);
    assertDescribed(at, answer.body, { method: at === '/keys' ? 'post' : 'get', status });
  }
  const { body } = await service.ask('/stack/v1/domains/x.com');
  assertDescribed('/stack/v1/domains/{domain}', body, { status: 401 });
});
it('a live answer keeps to its schema for the profile and history of every company', async () => {
  for (const domain of service.internet.domains())
    for (const at of ['/stack/v1/domains/{domain}', '/stack/v1/domains/{domain}/changes']) {
      const { status, body } = await service.get(at.replace('{domain}', domain));
      assert.equal(status, 200, domain);
      assertDescribed(at, body);
    }
});
