// Tool results for errors: the message of the service, and what to do.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { StackProblem } from '@strata/client';
import { receiptOf, shortText } from '@strata/questions';
import type { RecentAnswers } from './recent-answers.ts';
import { lastLines, quotaOf, toolResult } from './tool-result.ts';

const MAX_DETAIL = 600;

/** The result without an API key; the service is not called. */
export function missingKeyResult(baseUrl: string): CallToolResult {
  const detail =
    `No API key is set. Get a free one (50 requests a day, no account) with the button on ${baseUrl} or: curl -X POST ${new URL('/keys', baseUrl)} ` +
    '(operators of the service: strata stack keys create). Set STRATA_KEY in the configuration of this MCP server, or, if you connect to it by URL, send the header X-Stack-Key with each request. This server does not create keys itself.';
  return toolResult([`missing_key: ${detail}`], [], { error: { code: 'missing_key', status: 401, detail } });
}

/** The result for an error. An error answer of the service has a receipt too, and is stored for verification. */
export function errorResult(
  error: unknown,
  { baseUrl, recent, now }: { readonly baseUrl: string; readonly recent: RecentAnswers; readonly now: Date },
): CallToolResult {
  if (!(error instanceof StackProblem)) {
    // A bug. The details are logged to standard error and not sent to an agent.
    const detail = 'Internal error in this MCP server; see its log.';
    return toolResult([`internal_error: ${detail}`], [], { error: { code: 'internal_error', status: 0, detail } });
  }
  const { status, code, retryAfterSeconds, requestId, text } = error;
  const attached = { ...receiptOf(text === null ? undefined : JSON.parse(text)), ...quotaOf(error.quota) };
  if (attached.receipt && text !== null) recent.add(attached.receipt.receipt_id, text);
  const detail = shortText(error.detail || error.title, MAX_DETAIL);
  const fields = error.errors
    .slice(0, 10)
    .filter(({ message }) => message !== error.detail)
    .map(({ field, message }) => ({ field: shortText(field, 80), message: shortText(message, 300) }));
  const retryAt =
    retryAfterSeconds === null ? undefined : new Date(now.getTime() + retryAfterSeconds * 1_000).toISOString();
  const isNear = retryAfterSeconds !== null && retryAfterSeconds <= 120;
  return toolResult(
    [
      `${shortText(code, 80)}${status === 0 ? '' : ` (${status})`}: ${detail}`,
      ...fields
        .filter(({ field, message }) => !detail.includes(`${field} (${message})`))
        .map(({ field, message }) => `- ${field}: ${message}`),
      ...(retryAt === undefined
        ? []
        : [isNear ? `Retry in ${retryAfterSeconds} s (${retryAt}).` : `Do not retry before ${retryAt}.`]),
      ...(code === 'network'
        ? [`Check that the service is running at ${baseUrl}, or set STRATA_URL or --base to its URL.`]
        : []),
      ...(code === 'invalid_key'
        ? ['Check STRATA_KEY in the configuration of this MCP server, or the header X-Stack-Key of the request.']
        : []),
    ],
    lastLines({ receipt: attached.receipt }),
    {
      ...attached,
      error: {
        code: shortText(code, 80),
        status,
        detail,
        ...(fields.length > 0 && { fields }),
        ...(retryAfterSeconds !== null && { retry_after_seconds: retryAfterSeconds }),
        ...(retryAt !== undefined && { retry_at: retryAt }),
        ...(requestId !== null && { request_id: shortText(requestId, 80) }),
      },
    },
  );
}
