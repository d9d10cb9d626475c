// Builds request bodies for each kind of server.
import {
  type ChatMessage,
  type ChatRequest,
  type CompletionRequest,
  callableTools,
  type Format,
  type Generation,
  type Tool,
} from '@strata/inference';
import type { UpstreamInfo, UpstreamKind } from './models.ts';

interface BodyOptions extends Pick<UpstreamInfo, 'name' | 'kind'> {
  readonly seed: number;
  /** True by default. */
  readonly isStreamed?: boolean;
}

export interface ChatBodyOptions extends BodyOptions {
  /** llama-server and vLLM accept both, Ollama only the first, the newest models of other servers only the second. */
  readonly lengthName: 'max_tokens' | 'max_completion_tokens';
}

export function chatBody(request: ChatRequest, options: ChatBodyOptions): Record<string, unknown> {
  const { format, topLogprobs } = request;
  const { reasoning_effort, add_generation_prompt, ...kwargs } = request.templateVariables;
  return {
    ...generationBody(request, options),
    messages: request.messages.map(messageBody),
    ...toolsBody(request, options.kind),
    response_format: formatBody(format),
    reasoning_effort,
    add_generation_prompt,
    reasoning_format: reasoningFormat(request, options.kind),
    chat_template_kwargs: Object.keys(kwargs).length > 0 ? kwargs : undefined,
    ...(topLogprobs === undefined
      ? {}
      : { logprobs: true, top_logprobs: requestedAlternatives(topLogprobs, options.kind) }),
  };
}

/** Other servers do not know it, or refuse it. The text of a forced call is not read. */
function reasoningFormat(request: ChatRequest, kind: UpstreamKind): 'none' | undefined {
  const isReadAsText = request.keepsReasoning && kind === 'llama.cpp' && !callableTools(request).isCallForced;
  return isReadAsText ? 'none' : undefined;
}

export function completionBody(
  request: CompletionRequest,
  { prompt, ...options }: BodyOptions & { readonly prompt: string },
): Record<string, unknown> {
  const { topLogprobs } = request;
  return {
    ...generationBody(request, { ...options, lengthName: 'max_tokens' }),
    prompt,
    logprobs: topLogprobs === undefined ? undefined : requestedAlternatives(topLogprobs, options.kind),
  };
}

/** Always one choice, with usage: the client's response is assembled from it. */
function generationBody(
  request: Generation,
  { name: model, kind, seed, lengthName, isStreamed = true }: ChatBodyOptions,
) {
  const { sampling, stops, maxTokens, cacheKey } = request;
  const { temperature, topP, presencePenalty, frequencyPenalty, logitBias } = sampling;
  return {
    model,
    stream: isStreamed,
    stream_options: isStreamed ? { include_usage: true } : undefined,
    n: 1,
    temperature,
    top_p: topP,
    ...truncation(sampling, kind),
    presence_penalty: presencePenalty || undefined,
    frequency_penalty: frequencyPenalty || undefined,
    logit_bias: logitBias.size > 0 ? Object.fromEntries(logitBias) : undefined,
    stop: stops.length > 0 ? stops : undefined,
    seed,
    [lengthName]: maxTokens,
    prompt_cache_key: cacheKey,
  };
}

/** Not part of the original API: sent only when requested, or to servers whose own defaults would apply otherwise. */
function truncation({ topK, minP }: Generation['sampling'], kind: UpstreamKind) {
  switch (kind) {
    case 'llama.cpp':
      return { top_k: topK, min_p: minP };
    case 'vllm':
      // Older versions do not accept 0.
      return { top_k: topK || -1, min_p: minP };
    default:
      return { top_k: topK || undefined, min_p: minP || undefined };
  }
}

/** llama-server reports no log-probabilities if no alternatives are requested. */
function requestedAlternatives(topLogprobs: number, kind: UpstreamKind): number {
  return kind === 'llama.cpp' ? Math.max(1, topLogprobs) : topLogprobs;
}

function toolsBody(request: ChatRequest, kind: UpstreamKind) {
  const { tools, toolChoice, allowsParallelCalls } = request;
  const { callable, isCallForced } = callableTools(request);
  // Without tools in the request no server can call one: some ignore `none`.
  if (callable.length === 0) return {};
  const parallel_tool_calls = allowsParallelCalls ? undefined : false;
  const [one, ...more] = callable;
  // llama-server and Ollama ignore the name, and few servers know `allowed_tools`: sending only those is equivalent.
  if (typeof toolChoice === 'string' || !isCallForced || more.length > 0 || kind === 'llama.cpp' || kind === 'ollama')
    return { tools: callable.map(toolBody), tool_choice: isCallForced ? 'required' : 'auto', parallel_tool_calls };
  const tool_choice = { type: 'function', function: { name: one?.name } };
  return { tools: tools.map(toolBody), tool_choice, parallel_tool_calls };
}

function toolBody(tool: Tool) {
  return { type: 'function', function: tool };
}

function formatBody(format: Format) {
  switch (format.kind) {
    case 'text':
      return undefined;
    case 'json':
      return { type: 'json_object' };
    case 'schema':
      return { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema, strict: true } };
    default:
      return format satisfies never;
  }
}

function messageBody({ role, content, name, reasoning, toolCalls, toolCallId }: ChatMessage) {
  return {
    // Most models' templates have no developer role.
    role: role === 'developer' ? 'system' : role,
    content,
    name,
    reasoning_content: reasoning,
    tool_calls: toolCalls?.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
    tool_call_id: toolCallId,
  };
}
