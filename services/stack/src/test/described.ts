// Whether an answer fits what the OpenAPI description gives for its path.
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { stackOpenApi } from '../index.ts';

const document = stackOpenApi();
const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ ...document, $id: 'openapi' });
const compiled = new Map<string, ValidateFunction>();

/** Fails unless the body of a response, of `/stack/v1/domains/{domain}` for one, fits its schema. */
export function assertDescribed(
  path: string,
  body: unknown,
  { method = 'get', status = 200 }: { readonly method?: 'get' | 'post'; readonly status?: number } = {},
): void {
  const steps = [path, method, 'responses', String(status), 'content'];
  const contentOf = (at: unknown, step: string) => (at as Record<string, unknown> | undefined)?.[step];
  const content = steps.reduce<unknown>(contentOf, document.paths);
  const [only] = Object.values((content ?? {}) as Record<string, { schema?: object }>);
  assert.ok(only?.schema, `${method} ${path} is described for ${status}`);
  const text = JSON.stringify(only.schema).replaceAll('#/components', 'openapi#/components');
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
  compiled.set(text, validate);
  assert.ok(validate(body), `${path}: ${ajv.errorsText(validate.errors)}`);
}
