// Whether an answer fits what the OpenAPI description gives for its path.
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { stackOpenApi } from '../index.ts';

interface ResponseOptions {
  readonly method?: 'get' | 'post';
  readonly status?: number;
}

const document = stackOpenApi();
const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ ...document, $id: 'openapi' });
const compiled = new Map<string, ValidateFunction>();

/** Of the JSON of a response, `/stack/v1/domains/{domain}`. */
export function validationOf(path: string, { method = 'get', status = 200 }: ResponseOptions = {}): ValidateFunction {
  const steps = [path, method, 'responses', String(status), 'content'];
  const content = steps.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    document.paths,
  );
  const [only] = Object.values((content ?? {}) as Record<string, { schema?: object }>);
  const schema = only?.schema;
  assert.ok(schema, `${method} ${path} is described for ${status}`);
  const text = JSON.stringify(schema).replaceAll('#/components', 'openapi#/components');
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
  compiled.set(text, validate);
  return validate;
}

/** Fails unless a body fits the schema of its response. */
export function assertDescribed(path: string, body: unknown, options?: ResponseOptions): void {
  const validate = validationOf(path, options);
  assert.ok(validate(body), `${path}: ${ajv.errorsText(validate.errors)}`);
}
