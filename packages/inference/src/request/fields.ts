// The fields of a request and their bounds. `null` in an optional field selects the default.
import { z } from 'zod';

/** Maximum length of a text in characters: longer than any context window, and short enough to reject immediately. */
export const MAX_TEXT = 4_000_000;
const MAX_MESSAGES = 4_096;
/** Of all prompts of a request together; those that find no free slot wait for one. */
export const MAX_CHOICES = 128;
export const MAX_TOP_LOGPROBS = 20;

/** The outermost check is the cheap one: most fields are absent. */
export const optional = <S extends z.ZodType>(schema: S) =>
  schema
    .nullable()
    .transform((value): z.output<S> | undefined => value ?? undefined)
    .optional();

const text = z.string().max(MAX_TEXT, 'is too long');

const textPart = z.object({ type: z.literal('text'), text });
const refusalPart = z.object({ type: z.literal('refusal'), refusal: text });
/** Accepts any other part type, so that the error can name the type. */
const otherPart = z.object({ type: z.string().max(64) });
const parts = z.array(z.union([textPart, refusalPart, otherPart])).max(1_024, 'has too many parts');
const content = z.union([text, parts], 'must be a string or a list of parts');

const toolCall = z.object({
  // Some clients leave it out, as their model's template has no use for it.
  id: optional(z.string().max(256)),
  type: z.literal('function').default('function'),
  function: z.object({ name: z.string().min(1).max(128), arguments: text }),
});

const name = optional(z.string().max(128));

export const message = z.discriminatedUnion(
  'role',
  [
    z.object({ role: z.enum(['system', 'developer', 'user']), content, name }),
    z.object({
      role: z.literal('assistant'),
      content: optional(content),
      refusal: optional(text),
      name,
      // Two names are in use for the same.
      reasoning_content: optional(text),
      reasoning: optional(text),
      tool_calls: optional(z.array(toolCall).max(256)),
    }),
    z.object({ role: z.literal('tool'), content, tool_call_id: z.string().max(256), name }),
    z.object({ role: z.literal('function'), content: optional(content), name: z.string().max(128) }),
  ],
  { error: 'must have a role: system, developer, user, assistant or tool' },
);

export const messages = z.array(message).min(1, 'must hold a message').max(MAX_MESSAGES, 'has too many messages');

const schemaOfObject = z.record(z.string(), z.unknown());
const functionName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ and -');

export const tools = z
  .array(
    z.object({
      type: z.literal('function', 'only tools of type `function` can be served'),
      function: z.object({
        name: functionName,
        description: optional(z.string().max(32_768)),
        parameters: optional(schemaOfObject),
        // Hugging Face's notation of tools: some templates write it.
        return: optional(schemaOfObject),
        strict: optional(z.boolean()),
      }),
    }),
  )
  .max(128, 'has too many tools');

const namedTool = z.object({ type: z.literal('function'), function: z.object({ name: functionName }) });

export const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  namedTool,
  z.object({
    type: z.literal('allowed_tools'),
    allowed_tools: z.object({
      mode: z.enum(['auto', 'required']),
      tools: z.array(namedTool).min(1, 'must name a tool').max(128, 'has too many tools'),
    }),
  }),
]);

export const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  // The schema is an extension, as of llama.cpp's server.
  z.object({ type: z.literal('json_object'), schema: optional(schemaOfObject) }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: functionName,
      description: optional(z.string().max(32_768)),
      schema: optional(schemaOfObject),
      strict: optional(z.boolean()),
    }),
  }),
]);

/** A number within bounds, with a separate message for each bound. */
const number = (min: number, max: number) =>
  z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);
const integer = (min: number, max: number) =>
  z.int().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);

const tokens = z.array(z.int().min(0)).min(1).max(1_000_000);

const stops = z.union([z.string().max(256), z.array(z.string().max(256)).max(4, 'holds more than 4 strings')]);

/** The fields shared by chat completions and plain completions. */
export const generation = {
  model: z.string('must name a model').min(1, 'must name a model').max(256),
  stream: optional(z.boolean()),
  stream_options: optional(z.object({ include_usage: optional(z.boolean()) })),
  max_tokens: optional(integer(1, 10_000_000)),
  temperature: optional(number(0, 2)),
  top_p: optional(number(0, 1)),
  n: optional(integer(1, MAX_CHOICES)),
  stop: optional(stops),
  // A 64-bit integer. Above 2^53 the JSON parser rounds the value, the largest one to 2^63; the result is still the same
  // seed every time.
  seed: optional(
    z
      .number()
      .refine(Number.isInteger, 'must be an integer')
      .min(-(2 ** 63), 'must be an integer of 64 bits')
      .max(2 ** 63, 'must be an integer of 64 bits'),
  ),
  presence_penalty: optional(number(-2, 2)),
  frequency_penalty: optional(number(-2, 2)),
  logit_bias: optional(z.record(z.string().regex(/^\d{1,9}$/, 'must be the number of a token'), number(-100, 100))),
  user: optional(z.string().max(512)),
  // Only with `true` is text stored.
  store: optional(z.boolean()),
  // Extensions of the OpenAI contract, with the names that llama.cpp's and vLLM's servers use.
  top_k: optional(integer(0, 1_000_000)),
  min_p: optional(number(0, 1)),
  prompt_cache_key: optional(z.string().max(512)),
};

const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);
/** Names that the service or Jinja gives to a template itself. */
const RESERVED =
  /^(messages|tools|documents|bos_token|eos_token|chat_template|tokenize|namespace|range|dict|raise_exception|strftime_now|loop|true|false|none)$/i;
const scalar = z.union([z.string().max(65_536), z.number(), z.boolean(), z.null()]);
const listed = <S extends z.ZodType>(each: S) =>
  z.union([scalar, z.array(each).max(1_024), z.record(z.string().max(256), each)]);
const templateVariables = z
  .record(z.string().regex(/^[A-Za-z_]\w{0,63}$/, 'must be the name of a variable'), listed(listed(scalar)))
  .refine((given) => Object.keys(given).length <= 32, 'has more than 32 variables')
  .refine((given) => !Object.keys(given).some((each) => RESERVED.test(each)), 'sets a variable of the service');

export const chatFields = z.object({
  ...generation,
  messages,
  max_completion_tokens: optional(integer(1, 10_000_000)),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(integer(0, MAX_TOP_LOGPROBS)),
  response_format: optional(responseFormat),
  tools: optional(tools),
  tool_choice: optional(toolChoice),
  parallel_tool_calls: optional(z.boolean()),
  metadata: optional(z.record(z.string(), z.unknown())),
  reasoning_effort: optional(effort),
  // Extensions of vLLM, SGLang and llama.cpp's server.
  chat_template_kwargs: optional(templateVariables),
  add_generation_prompt: optional(z.boolean()),
  reasoning_format: optional(z.enum(['auto', 'deepseek', 'none'])),
  modalities: optional(z.array(z.string().max(64)).max(16)),
  audio: z.unknown().optional(),
  functions: z.unknown().optional(),
  function_call: z.unknown().optional(),
});

export const completionFields = z.object({
  ...generation,
  prompt: z.union(
    [text, z.array(text).min(1).max(64), tokens, z.array(tokens).min(1).max(64)],
    'must be a string, a list of strings, or tokens',
  ),
  echo: optional(z.boolean()),
  suffix: optional(z.string()),
  best_of: optional(integer(1, MAX_CHOICES)),
  logprobs: optional(integer(0, 5)),
});

export const embeddingFields = z.object({
  model: generation.model,
  input: z.union(
    [
      z.string().min(1, 'must not be empty').max(MAX_TEXT),
      z.array(z.string().min(1).max(MAX_TEXT)).min(1).max(2_048),
      tokens,
      z.array(tokens).min(1).max(2_048),
    ],
    'must be a string, a list of strings, or tokens',
  ),
  encoding_format: optional(z.enum(['float', 'base64'])),
  dimensions: optional(integer(1, 1_000_000)),
  user: generation.user,
});
