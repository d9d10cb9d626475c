// Generates the OpenAPI 3.1 document of a route table from the routes' schemas.
import { z } from 'zod';
import { ERRORS, type ErrorCode } from './problems/errors.ts';
import type { BodySchemas, Output, Route } from './route.ts';
import { FILE_FORMATS, MEDIA_TYPES } from './tables/table.ts';

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

/** Errors that any route may return; described once and listed for every route. */
const commonErrors: readonly ErrorCode[] = ['invalid_parameter', 'internal_error', 'unavailable'];
const keyErrors: readonly ErrorCode[] = ['missing_key', 'invalid_key', 'quota_exceeded'];

const ProvenanceSchema = z
  .object({
    receipt_id: z.string(),
    signature: z.string(),
    public_key_url: z.string(),
    signed_at: z.iso.datetime(),
    ledger_receipt_id: z.string(),
    key_id: z.string(),
  })
  .meta({ id: 'Provenance', description: 'The receipt of this body; see the description of the API.' });

const envelopeShape = { _alpha: z.literal(true), _notice: z.string(), provenance: ProvenanceSchema };

const ProblemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]),
    request_id: z
      .string()
      .optional()
      .describe(
        'Present with a valid key; otherwise only in the header `X-Request-Id`, like everything that differs by request.',
      ),
    errors: z
      .array(
        z.object({
          field: z.string(),
          message: z.string(),
          position: z
            .int()
            .min(1)
            .optional()
            .describe('Where in the value the problem begins: the number of the character.'),
        }),
      )
      .optional(),
    ...envelopeShape,
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' });

/**
 * The document as a plain value; equal routes give equal documents, key order included. `examples` maps paths to
 * responses; of a path with several methods, `POST /path` to those of a method other than GET.
 */
export function openApiDocument<App>(
  routes: readonly Route<App>[],
  info: ApiInfo,
  examples: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const components: Record<string, unknown> = {};
  const schemaOf = (schema: z.ZodType, io: 'input' | 'output' = 'output'): Record<string, unknown> => {
    const { $schema: _dialect, $defs = {}, ...rest } = jsonSchemaOf(schema, io);
    // A component's name replaces its id.
    for (const [name, { id: _id, ...component }] of Object.entries($defs)) components[name] = component;
    return rest;
  };

  const paths: Record<string, Record<string, unknown>> = {};
  const read = new Set(routes.filter(({ contract }) => contract.method === 'GET').map(({ contract }) => contract.path));
  const exampleKey = (method: string, path: string) =>
    method !== 'GET' && read.has(path) ? `${method} ${path}` : path;
  for (const { contract } of routes) {
    const path = contract.path.replaceAll('*}', '}');
    paths[path] ??= {};
    paths[path][contract.method.toLowerCase()] = {
      tags: [contract.tag],
      summary: contract.summary,
      ...(contract.description ? { description: contract.description } : {}),
      operationId: operationIdOf(contract.method, contract.path),
      security: contract.access === 'open' ? [] : [{ StackKey: [] }],
      parameters: [...parameters('path', contract.params), ...parameters('query', contract.query)],
      ...(contract.upload ? { requestBody: { required: true, content: uploadContent(contract.upload) } } : {}),
      ...(contract.bodies ? { requestBody: { required: true, content: contentOf(contract.bodies) } } : {}),
      responses: {
        ...success(contract.output, contract.example ?? examples[exampleKey(contract.method, path)]),
        ...problems([...(contract.errors ?? []), ...(contract.access === 'open' ? [] : keyErrors), ...commonErrors]),
      },
    };
  }
  // Requesting a schema that contains the problem makes it a component that can be referenced.
  schemaOf(z.object({ problem: ProblemSchema }));

  return {
    openapi: '3.1.0',
    info: {
      title: info.title,
      version: info.version,
      description: info.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: info.tags,
    paths,
    components: {
      securitySchemes: { StackKey: { type: 'apiKey', in: 'header', name: 'X-Stack-Key' } },
      schemas: Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };

  function parameters(where: 'path' | 'query', schema: z.ZodObject | undefined): unknown[] {
    if (!schema) return [];
    return Object.entries(schema.shape).map(([name, field]) => {
      const { description, ...rest } = schemaOf(field as z.ZodType);
      const isRequired = where === 'path' || !(field as z.ZodType).safeParse(undefined).success;
      return { name, in: where, required: isRequired, ...(description ? { description } : {}), schema: rest };
    });
  }

  function contentOf(schemas: BodySchemas): Record<string, unknown> {
    const content = ([type, schema]: [string, z.ZodType]) => [type, { schema: schemaOf(schema, 'input') }];
    return Object.fromEntries(Object.entries(schemas).map(content));
  }

  function json(schema: z.ZodObject, example: unknown) {
    return { 'application/json': { schema: schemaOf(schema), ...(example ? { example } : {}) } };
  }

  function success(output: Output, example: unknown): Record<string, unknown> {
    switch (output.kind) {
      case 'signed': {
        const content = json(output.schema.extend(envelopeShape), example);
        return { [output.status ?? 200]: { description: 'The response, with its receipt.', content } };
      }
      case 'json': {
        const type = (output.contentType ?? 'application/json').split(';')[0] ?? 'application/json';
        return { 200: { description: output.description, content: { [type]: { schema: schemaOf(output.schema) } } } };
      }
      case 'csv':
      case 'rows': {
        const columns = output.columns.map(({ name, description }) => `\`${name}\`: ${description}`).join(' ');
        const text = { schema: { type: 'string' }, ...(example && output.kind === 'csv' ? { example } : {}) };
        return {
          200: {
            description: `${output.description} Columns: ${columns}`,
            headers: {
              'Stack-Provenance': PROVENANCE_HEADER,
              'Stack-Truncated': header('`true` if the response does not contain all rows.'),
              'Content-Disposition': header('A file name.'),
            },
            content:
              output.kind === 'csv'
                ? { 'text/csv': text }
                : {
                    ...json(output.schema.extend(envelopeShape), example),
                    ...Object.fromEntries(FILE_FORMATS.map((format) => [MEDIA_TYPES[format], text])),
                  },
          },
        };
      }
      case 'file':
        return fileResponses(output.description);
      case 'events': {
        const kinds = output.events.map(({ name, description }) => `\`${name}\`: ${description}`).join(' ');
        const events = Object.fromEntries(output.events.map(({ name, schema }) => [name, schemaOf(schema)]));
        return {
          200: {
            description: `${output.description} Events: ${kinds}`,
            content: { 'text/event-stream': { schema: { type: 'string' }, 'x-events': events } },
          },
        };
      }
      case 'bytes': {
        const type = output.contentType.split(';')[0] ?? output.contentType;
        return { 200: { description: output.description, content: { [type]: { schema: { type: 'string' } } } } };
      }
      default:
        return output satisfies never;
    }
  }
}

const header = (description: string) => ({ description, schema: { type: 'string' } });
const PROVENANCE_HEADER = header('The receipt as JSON, signed over `{content_sha256, content_type, provenance}`.');

function fileResponses(description: string): Record<string, unknown> {
  const binary = { schema: { type: 'string', format: 'binary' } };
  const content = Object.fromEntries(FILE_FORMATS.map((format) => [MEDIA_TYPES[format], binary]));
  const headers = {
    'Stack-Provenance': PROVENANCE_HEADER,
    'Content-Disposition': header('A file name.'),
    ETag: header('Strong validator of the file, for If-Range and If-None-Match.'),
    'Accept-Ranges': header('`bytes`'),
  };
  return {
    200: { description, headers, content },
    206: { description: 'The range that `Range` asks for.', headers, content },
    416: { description: 'The range is not within the file.' },
  };
}

const uploadContent = (types: readonly string[]) =>
  Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));

/** Problem responses, one per status; several codes may share a status. */
function problems(codes: readonly ErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const response = ([status, list]: [number, ErrorCode[]]) => [
    String(status),
    {
      description: list.map((code) => `\`${code}\`: ${ERRORS[code].title}.`).join(' '),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ];
  return Object.fromEntries([...byStatus].sort(([a], [b]) => a - b).map(response));
}

function operationIdOf(method: string, path: string): string {
  const segments = path.split(/[^A-Za-z0-9]+/).filter((segment) => segment !== '');
  return [method.toLowerCase(), ...segments]
    .map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
}

interface JsonSchema extends Record<string, unknown> {
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/** zod puts shared schemas under `$defs`; here they are components. Responses may grow, so objects are not closed. */
function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const closed = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return JSON.parse(JSON.stringify(closed).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
