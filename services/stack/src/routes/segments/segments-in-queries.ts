// Replaces `segment:name` in the queries of a request by the conditions of the segment of the caller's key, so that everything after
// that, cached answers and jobs included, depends on the query alone.
import { MAX_QUERY, QueryError } from '@strata/analytics';
import type { RequestContext } from '@strata/http';
import { nearestName } from '@strata/http/nearest-names';
import type { StackApp } from '../../context.ts';
import { domainQuery } from '../../index/domain-queries.ts';
import { queryRefused } from '../query-parameter.ts';

export const MAX_SEGMENTS = 100;
/** Parameters, and fields of a body, that are queries. */
const QUERIES = ['query', 'a', 'b'] as const;
const PREFIX = 'segment:';

type Input = Readonly<Record<string, unknown>>;

/** The input with the conditions; undefined if it has no segments. */
export async function expandedInput(app: StackApp, input: Input, context: RequestContext): Promise<Input | undefined> {
  const [expanded, body] = [
    await expandedFields(app, input, context),
    input.body instanceof Object ? await expandedFields(app, input.body as Input, context) : undefined,
  ];
  return expanded || body ? { ...input, ...expanded, ...(body && { body }) } : undefined;
}

async function expandedFields(app: StackApp, fields: Input, { key }: RequestContext): Promise<Input | undefined> {
  const asked = QUERIES.flatMap((field) => {
    const text = fields[field];
    return typeof text === 'string' && text.toLowerCase().includes(PREFIX) ? [[field, text] as const] : [];
  });
  if (asked.length === 0 || !key) return undefined;
  const own = new Map<string, string>();
  for (const { name, query } of await app.store.segments.ofKey(key.id, MAX_SEGMENTS)) own.set(name, query);
  return {
    ...fields,
    ...Object.fromEntries(asked.map(([field, text]) => [field, expanded(app, own, { field, text })])),
  };
}

function expanded(
  app: StackApp,
  own: ReadonlyMap<string, string>,
  { field, text }: { readonly field: string; readonly text: string },
): string {
  try {
    let result = '';
    let end = 0;
    // Reading the query finds its segments in their order, and reports errors at their positions in the text as written.
    domainQuery(app, text, (name, start) => {
      const query = own.get(name.toLowerCase());
      if (query === undefined)
        throw new QueryError(`unknown segment ${name.slice(0, 64)}`, start, nearestName(name, [...own.keys()]));
      const from = start - PREFIX.length;
      if (text.slice(from, start + name.length).toLowerCase() !== PREFIX + name.toLowerCase())
        throw new QueryError('write segment:name for each segment', start);
      result += `${text.slice(end, from)}(${query})`;
      end = start + name.length;
      return { kind: 'and', of: [] };
    });
    result += text.slice(end);
    if (end > 0 && result.length > MAX_QUERY)
      throw new QueryError(`with its segments the query has more than ${MAX_QUERY} characters`, 0);
    if (end > 0) checkLimits(app, result);
    return result;
  } catch (error) {
    return queryRefused(error, { field, text });
  }
}

/** The number of terms may be exceeded only with the conditions of segments, and a provider may be unknown by now. */
function checkLimits(app: StackApp, text: string): void {
  try {
    domainQuery(app, text);
  } catch (error) {
    throw error instanceof QueryError ? new QueryError(`with its segments: ${error.message}`, 0) : error;
  }
}
