// The schemas of responses, by their names in the OpenAPI document.
import { Verified } from '@strata/inference';
import { z } from 'zod';
import { NetworkReport } from '../../network/network-report.ts';

const reasoning = z
  .string()
  .optional()
  .describe('What the model thought before it answered; absent without reasoning.');
const usage = z
  .object({
    ...{ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() },
    completion_tokens_details: z.looseObject({ reasoning_tokens: z.int() }).optional(),
  })
  .loose();
/** Hexadecimal. A receipt with a salt has HMACs, one without has plain digests. */
const Digest = z.string().optional();
const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter']);
const chosenLogprob = z
  .object({ token: z.string(), logprob: z.number(), bytes: z.array(z.int()), top_logprobs: z.array(z.looseObject({})) })
  .loose();
const chatLogprobs = z
  .object({ content: z.array(chosenLogprob) })
  .loose()
  .nullable();
const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
/** The increment of a chunk: calls have an index; the name of a call comes first, then its arguments in pieces. */
const chatDelta = z.looseObject({
  role: z.literal('assistant').optional(),
  content: z.string().nullable().optional(),
  reasoning_content: reasoning,
  reasoning,
  refusal: z.null().optional(),
  tool_calls: z
    .array(
      z.object({
        index: z.int(),
        id: z.string().optional(),
        type: z.literal('function').optional(),
        function: z.object({ name: z.string().optional(), arguments: z.string() }),
      }),
    )
    .optional(),
});
const head = { id: z.string(), created: z.int(), model: z.string(), system_fingerprint: z.string() };

export const answers = {
  ChatCompletion: z.object({
    ...head,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.object({
        index: z.int(),
        message: z.object({
          role: z.literal('assistant'),
          content: z.string().nullable(),
          reasoning_content: reasoning,
          reasoning,
          refusal: z.null(),
          tool_calls: z.array(toolCall).optional(),
        }),
        logprobs: chatLogprobs,
        finish_reason: finishReason,
      }),
    ),
    usage,
  }),
  ChatCompletionChunk: z.object({
    ...head,
    object: z.literal('chat.completion.chunk'),
    choices: z.array(
      z.object({
        index: z.int(),
        delta: chatDelta,
        logprobs: chatLogprobs,
        finish_reason: finishReason.nullable(),
      }),
    ),
    usage: usage.nullable().optional(),
  }),
  Completion: z.object({
    ...head,
    object: z.literal('text_completion'),
    choices: z.array(
      z.object({
        index: z.int(),
        text: z.string(),
        logprobs: z.looseObject({}).nullable(),
        finish_reason: finishReason.nullable(),
      }),
    ),
    usage: usage.optional(),
  }),
  Response: z
    .object({
      id: z.string(),
      object: z.literal('response'),
      created_at: z.int(),
      status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
      model: z.string(),
      output: z.array(z.object({ id: z.string(), type: z.enum(['message', 'reasoning', 'function_call']) }).loose()),
      usage: z.object({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).loose().nullable(),
    })
    .loose(),
  DeletedChatCompletion: z.object({
    id: z.string(),
    object: z.literal('chat.completion.deleted'),
    deleted: z.literal(true),
  }),
  DeletedResponse: z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),
  Embeddings: z.object({
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: z.int(),
        embedding: z.union([z.array(z.number()), z.string()]),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  }),
  Model: z.object({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string(),
    name: z.string(),
    engine: z.string(),
    sha256: z.string().nullable(),
    size_bytes: z.int().nullable(),
    parameters: z.int().nullable(),
    quantisation: z.string().nullable(),
    context_length: z.int().nullable(),
    slots: z.int(),
    loaded: z.boolean().nullable().describe('False: the next request loads it first. Null: an upstream decides.'),
    unavailable: z.string().nullable().describe('Why it answers no requests at present; null: it does.'),
    verified: Verified.describe('How far it is proved which model answers: the weakest of all that may answer.'),
  }),
  Receipt: z.object({
    object: z.literal('inference.receipt'),
    answer_id: z.string(),
    request_id: z.string(),
    key_id: z.string(),
    endpoint: z.string(),
    model: z.object({
      id: z.string(),
      sha256: z.string().nullable(),
      engine: z.string(),
      verified: Verified.optional().describe('Of those that answered; earlier receipts have none.'),
    }),
    request_hmac_sha256: Digest.describe('HMAC-SHA-256 of the request body, with `x-receipt-salt` as the key.'),
    answer_hmac_sha256: Digest.describe('HMAC-SHA-256 of the content of the answer, with the same key.'),
    request_sha256: Digest.describe('Plain SHA-256, in earlier receipts without a salt.'),
    answer_sha256: Digest,
    outcome: z
      .enum(['completed', 'cancelled', 'failed', 'interrupted'])
      .describe('`interrupted`: the gateway was killed; the usage is that of the prompt, and the content is unknown.'),
    finish_reasons: z.array(finishReason.nullable()),
    usage: z.object({ prompt_tokens: z.int(), cached_tokens: z.int(), completion_tokens: z.int() }),
    charge: z
      .object({
        spend_micros: z.int().describe("Millionths of the operator's currency."),
        accounts: z.array(z.string()).describe('The limits of the key and its team that it counts in.'),
      })
      .optional()
      .describe('Of an answer with a price, or of a key with limits of its own or a team.'),
    times: z.object({ received_at: z.string(), first_token_at: z.string().nullable(), finished_at: z.string() }),
    segments: z
      .array(
        z.object({
          choice: z.int(),
          worker: z.string(),
          nonce: z.string(),
          from: z.int(),
          to: z.int(),
          chain_head_hmac_sha256: Digest,
          chain_head: Digest.describe('Only in earlier receipts without a salt.'),
        }),
      )
      .optional(),
    answered_by: z
      .array(
        z.object({
          upstream: z.string().nullable().describe('Null: the gateway itself, or a worker.'),
          model: z.string().describe('Its name there.'),
        }),
      )
      .optional()
      .describe('For a name that several targets answer.'),
    provenance: z.looseObject({ receipt_id: z.string(), signature: z.string(), key_id: z.string() }),
  }),
  NewKey: z.object({
    key: z.string().describe('Returned only once. Send it as `Authorization: Bearer sk-…`.'),
    key_id: z.string(),
    tier: z.string(),
    daily_limit: z.int().nullable().describe('Requests per UTC day.'),
    requests_per_minute: z.int(),
    tokens_per_minute: z.int(),
    tokens_per_day: z.int(),
  }),
  Network: NetworkReport,
  Error: z.object({
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    }),
  }),
} as const;
export type AnswerName = keyof typeof answers;
