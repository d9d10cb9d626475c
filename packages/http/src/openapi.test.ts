import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openApiDocument } from './openapi.ts';
import { routes } from './test/test-server.ts';

const info = { title: 'Things', version: '1.0.0', description: 'Test', tags: [{ name: 'Things', description: 'All' }] };

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema?: unknown }> }>;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
}

describe('the OpenAPI document', () => {
  const document = openApiDocument(routes, info) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, unknown> };
  };

  it('is the same for the same routes, to the byte', () => {
    assert.equal(JSON.stringify(openApiDocument(routes, info)), JSON.stringify(document));
  });

  it('describes parameters, answers and every declared problem', () => {
    const operation = document.paths['/things/{id}']?.get;
    assert.deepEqual(
      operation?.parameters.map((p) => [p.name, p.in, p.required]),
      [
        ['id', 'path', true],
        ['limit', 'query', false],
      ],
    );
    assert.deepEqual(Object.keys(operation?.responses ?? {}), ['200', '400', '401', '404', '429', '500', '503']);
    assert.ok(document.paths['/things']?.post?.responses['201']);
  });

  it('refers only to schemas that it holds', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? '');
    assert.ok(references.length > 0);
    for (const reference of references) {
      const name = reference.replace('#/components/schemas/', '');
      assert.ok(Object.hasOwn(document.components.schemas, name), reference);
    }
  });

  it('names every operation differently', () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((each) => each.operationId),
    );
    assert.equal(new Set(ids).size, ids.length);
  });
});
