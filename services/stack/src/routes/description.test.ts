// The description of the API: what it says, that it is the committed one, and that live answers keep to it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { z } from 'zod';
import { stackOpenApi } from '../app.ts';
import { type Answer, company, type Harness, moveDns, smallInternet, startHarness } from '../test/harness.ts';

type Json = Record<string, unknown>;

describe('the OpenAPI document', () => {
  const document = stackOpenApi() as unknown as Json & {
    info: { version: string };
    tags: { name: string }[];
    paths: Record<string, Record<string, { tags: string[]; security: object[]; responses: Json; operationId: string }>>;
  };
  const operations = Object.entries(document.paths).flatMap(([at, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ at, method, operation })),
  );

  it('is 3.1, version 1.10.2, with the eleven tags', () => {
    assert.match(String(document.openapi), /^3\.1\./);
    assert.equal(document.info.version, '1.10.2');
    assert.deepEqual(
      document.tags.map(({ name }) => name),
      'Status Domains Search Statistics Monitoring Intelligence Enrichment Feeds Exports Providers Streams'.split(' '),
    );
  });

  it('is the one on disk; `npm run openapi` rewrites it', () => {
    const file = path.join(import.meta.dirname, '../../../../openapi/stack.json');
    assert.equal(readFileSync(file, 'utf8'), `${JSON.stringify(document, null, 2)}\n`);
  });

  it('has every given path of this stage, each with a known tag and an operation id of its own', () => {
    for (const given of ['/health', '/stack/v1/domains/{domain}', '/stack/v1/domains/{domain}/changes'])
      assert.ok(document.paths[given]?.get, given);
    const tags = new Set(document.tags.map(({ name }) => name));
    for (const { at, operation } of operations)
      assert.ok(
        operation.tags.every((tag) => tags.has(tag)),
        at,
      );
    assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
  });

  it('asks for the key exactly under /stack/v1', () => {
    for (const { at, operation } of operations)
      assert.equal(operation.security.length > 0, at.startsWith('/stack/v1/'), at);
  });

  it('refers only to components that it has', () => {
    for (const [, pointer = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = pointer.split('/').reduce<unknown>((at, step) => (at as Json | undefined)?.[step], document);
      assert.ok(found, pointer);
    }
  });
});

describe('a live answer', () => {
  let internet: Internet;
  let service: Harness;
  let document: Json;
  before(async () => {
    internet = await smallInternet();
    service = await startHarness({ internet, settings: { STRATA_CONFIRM_AFTER_HOURS: '0' } });
    document = (await service.ask('/openapi.json')).body;
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });

  /** The schema of a response as the served document gives it, with the components beside it. */
  function schemaOf(at: string, method: string, { status, headers }: Answer): z.ZodType {
    const type = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    const steps = ['paths', at, method, 'responses', String(status), 'content', type, 'schema'];
    const schema = steps.reduce<unknown>((found, step) => (found as Json | undefined)?.[step], document);
    assert.ok(schema, `${method} ${at} declares no ${status} of ${type}`);
    const text = JSON.stringify({ ...(schema as Json), $defs: (document.components as Json).schemas });
    return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
  }

  const cases: { what: string; at: string; method?: string; path: () => string; status: number; hasKey?: boolean }[] = [
    { what: 'health', at: '/health', path: () => '/health', status: 200 },
    { what: 'a free key', at: '/keys', method: 'post', path: () => '/keys', status: 201 },
    {
      what: 'the key set',
      at: '/.well-known/stack-keys.json',
      path: () => '/.well-known/stack-keys.json',
      status: 200,
    },
    { what: 'a problem explained', at: '/problems/{code}', path: () => '/problems/quota_exceeded', status: 200 },
    { what: 'no such problem', at: '/problems/{code}', path: () => '/problems/toString', status: 404 },
    {
      what: 'no key',
      at: '/stack/v1/domains/{domain}',
      path: () => '/stack/v1/domains/x.com',
      status: 401,
      hasKey: false,
    },
    { what: 'a bad name', at: '/stack/v1/domains/{domain}', path: () => '/stack/v1/domains/com', status: 400 },
    {
      what: 'an unknown name',
      at: '/stack/v1/domains/{domain}',
      path: () => '/stack/v1/domains/gone-gone.com',
      status: 404,
    },
    {
      what: 'a bad page',
      at: '/stack/v1/domains/{domain}/changes',
      path: () => `/stack/v1/domains/${company(internet, 1)}/changes?limit=x`,
      status: 400,
    },
  ];
  for (const { what, at, method = 'get', path: target, status, hasKey = true } of cases) {
    it(`keeps to its schema: ${what}`, async () => {
      const answer = await (hasKey && method === 'get'
        ? service.get(target())
        : service.ask(target(), { method: method.toUpperCase() }));
      assert.equal(answer.status, status);
      schemaOf(at, method, answer).parse(answer.body);
    });
  }

  it('keeps to its schema for the profile and history of every company, before and after they move', async () => {
    await service.scan(...internet.domains());
    const moved = moveDns(internet);
    await service.restart();
    await service.scan(...internet.domains());
    await service.scan(...internet.domains());
    const failures: string[] = [];
    for (const domain of internet.domains()) {
      for (const suffix of ['', '/changes']) {
        const answer = await service.get(`/stack/v1/domains/${domain}${suffix}`);
        assert.equal(answer.status, 200, domain);
        const checked = schemaOf(`/stack/v1/domains/{domain}${suffix}`, 'get', answer).safeParse(answer.body);
        if (!checked.success) failures.push(`${domain}${suffix}: ${checked.error.message}`);
      }
    }
    assert.deepEqual(failures, []);
    const { body } = await service.get(`/stack/v1/domains/${moved.domain}/changes`);
    assert.ok(Number(body.total) > 0);
  });

  it('would be found out if it left its schema', async () => {
    const answer = await service.get(`/stack/v1/domains/${company(internet, 1)}`);
    const schema = schemaOf('/stack/v1/domains/{domain}', 'get', answer);
    assert.equal(schema.safeParse({ ...answer.body, services: [{}] }).success, false);
    assert.equal(schema.safeParse({ ...answer.body, provenance: undefined }).success, false);
  });
});
