// Why there is no answer, in the service's words, and what can be done about it.
import type { CallToolResult } from '@modelcontextprotocol/server';
import { StackProblem } from '@strata/client';
import type { KeptAnswers } from './recent-answers.ts';
import { shortText } from './shorten.ts';
import { lastLines, quotaOf, receiptOf, toolResult } from './tool-result.ts';

const MAX_DETAIL = 600;

/** The result of a question that was not asked for want of a key. */
export function withoutKey(baseUrl: string): CallToolResult {
  const detail =
    `No API key is set. A free one (50 requests a day, no account) comes from the button on ${baseUrl} or from: curl -X POST ${new URL('/keys', baseUrl)} ` +
    '(whoever runs the service: strata stack keys create). Put it into STRATA_KEY in the configuration of this MCP server, or, where that is reached by a URL, into the header X-Stack-Key of the requests. No key is made here without being asked.';
  return toolResult([`missing_key: ${detail}`], [], { error: { code: 'missing_key', status: 401, detail } });
}

/** The result for whatever was thrown; `baseUrl` is told where nothing answers there. A refusal has a receipt, and is kept to be checked. */
export function refused(
  error: unknown,
  { baseUrl, kept, now }: { readonly baseUrl: string; readonly kept: KeptAnswers; readonly now: Date },
): CallToolResult {
  if (!(error instanceof StackProblem)) {
    // A bug of ours: what it says goes to standard error, not to an agent.
    const detail = 'Something went wrong in this MCP server; its log says what.';
    return toolResult([`internal_error: ${detail}`], [], { error: { code: 'internal_error', status: 0, detail } });
  }
  const { status, code, retryAfterSeconds, requestId, text } = error;
  const attached = { ...receiptOf(text === null ? undefined : JSON.parse(text)), ...quotaOf(error.quota) };
  if (attached.receipt && text !== null) kept.keep(attached.receipt.receipt_id, text);
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
      ...fields.map(({ field, message }) => `- ${field}: ${message}`),
      ...(retryAt === undefined
        ? []
        : [`Ask again ${isNear ? `in ${retryAfterSeconds} s` : 'not before'} (${retryAt}).`]),
      ...(code === 'network' ? [`Is the service running at ${baseUrl}? STRATA_URL or --base names another.`] : []),
      ...(code === 'invalid_key'
        ? ['The key is STRATA_KEY in the configuration of this MCP server, or the header X-Stack-Key of the request.']
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
