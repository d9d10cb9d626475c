// The examples of the description are answers that a service gave; when the interface moves on, they must too.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { stackOpenApi } from '../index.ts';

interface Content {
  readonly schema: object;
  readonly example?: unknown;
}

const document = stackOpenApi() as unknown as {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly get?: {
          readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
        };
      }
    >
  >;
};

describe('the examples of the description', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ ...document, $id: 'openapi' });

  for (const [path, { get }] of Object.entries(document.paths)) {
    if (!path.startsWith('/stack/v1/') || path === '/stack/v1/stream') continue;
    it(`show an answer of ${path} that its schema allows`, () => {
      const [[type, { schema, example }] = ['', { schema: {} }]] = Object.entries(get?.responses['200']?.content ?? {});
      assert.ok(example, 'there is one');
      if (type === 'text/csv') return assert.match(String(example), /^[a-z_,]+\r\n[^\r\n]+/);
      const text = JSON.stringify(schema).replaceAll('#/components', 'openapi#/components');
      const isValid = ajv.compile(JSON.parse(text) as object);
      assert.ok(isValid(example), ajv.errorsText(isValid.errors));
    });
  }
});
