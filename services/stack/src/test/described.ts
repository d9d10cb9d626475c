// Whether an answer fits what the OpenAPI description says of its path.
import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { stackOpenApi } from '../index.ts';

interface Described {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly get: {
          readonly responses: {
            readonly 200: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
          };
        };
      }
    >
  >;
}

const document = stackOpenApi() as unknown as Described;
const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ ...document, $id: 'openapi' });

/** Fails unless a body fits the schema of 200 of its path, `/stack/v1/domains/{domain}`. */
export function assertDescribed(path: string, body: unknown): void {
  const schema = document.paths[path]?.get.responses[200].content['application/json']?.schema;
  assert.ok(schema, `${path} is described`);
  const validate = ajv.compile(
    JSON.parse(JSON.stringify(schema).replaceAll('#/components', 'openapi#/components')) as object,
  );
  assert.ok(validate(body), `${path}: ${ajv.errorsText(validate.errors)}`);
}
