// The table of the interface, walked on a live service: every path answers, every answer fits the schema that is served.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createInternet, type Internet } from '@strata/testnet';
import { assertDescribed, type Harness, startHarness } from '../../services/stack/src/test/index.ts';
import { vectorsIn } from '../support/vectors.ts';

/** The given table: path, tag, query parameters, some with their defaults. */
const TABLE = vectorsIn<readonly { path: string; tag: string; query: readonly string[] }[]>('endpoints.json');

type Parameter = { readonly name: string; readonly schema: { readonly default?: unknown } };
interface Operation {
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly security: readonly unknown[];
}

describe('the table of the interface', () => {
  let internet: Internet;
  let stack: Harness;
  let paths: Readonly<Record<string, { readonly get: Operation }>>;

  before(async () => {
    internet = await createInternet({ domains: 60, hasFaults: false });
    stack = await startHarness({ internet, settings: { STRATA_SCAN_OPTIONS: 'confirm-hours=0' } });
    await stack.scan(...internet.domains());
    internet.advance(40);
    for (let round = 0; round < 2; round += 1) await stack.scan(...internet.domains());
    await stack.running.updateLoop.run();

    const { body } = await stack.ask('/openapi.json');
    assert.partialDeepStrictEqual(body, { openapi: '3.1.0', info: { version: '1.10.2' } });
    paths = body.paths as typeof paths;
  });
  after(async () => {
    await stack?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });

  const filled = (path: string) =>
    path
      .replace('{domain}', internet.domains().find((name) => internet.truth(name).state === 'active') ?? '')
      .replace('{provider}', 'Cloudflare')
      .replace('{tool}', 'google-workspace')
      .replace(/json$/, 'json?since=2020-01-01T00:00:00Z&limit=1000');

  for (const { path, tag, query } of TABLE) {
    it(`has ${path}, described and answering as described`, async () => {
      const operation = paths[path]?.get;
      assert.ok(operation, 'it is described');
      assert.deepEqual(operation.tags, [tag]);
      assert.equal(operation.security.length > 0, path !== '/health');
      for (const described of query) {
        const [name = '', value] = described.split('=');
        const parameter: Parameter | undefined = operation.parameters.find((each) => each.name === name);
        assert.ok(parameter, `${name} is missing`);
        if (value !== undefined) assert.equal(parameter.schema.default, Number(value));
      }
      const url = filled(path);
      if (path === '/stack/v1/stream') {
        const stopping = new AbortController();
        const headers = { 'x-stack-key': await stack.newKey() };
        const response = await fetch(stack.base + url, { headers, signal: stopping.signal });
        const type = response.headers.get('content-type');
        assert.deepEqual([response.status, type], [200, 'text/event-stream; charset=utf-8']);
        return stopping.abort();
      }
      const { status, headers, text, body } = await stack.get(url);
      assert.equal(status, 200, text.slice(0, 300));
      if (path.endsWith('.csv')) {
        assert.match(headers.get('content-type') ?? '', /^text\/csv/);
        assert.match(headers.get('content-disposition') ?? '', /^attachment; filename=/);
        assert.ok(JSON.parse(headers.get('stack-provenance') ?? '').ledger_receipt_id);
      } else {
        assert.equal(body._alpha, true);
        assertDescribed(path, body);
        if (path.endsWith('/json')) assert.ok((body.events as unknown[]).length > 0);
      }
    });
  }
});
