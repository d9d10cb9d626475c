// Answers of `/v1/responses`: the response object and its output items.
import type { ResponsesRequest } from '../request/responses-request.ts';
import type { AnswerHead, ChatChoice, FinishReason, Usage } from './answer.ts';

export interface OutputText {
  readonly type: 'message';
  readonly id: string;
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly role: 'assistant';
  readonly content: readonly {
    readonly type: 'output_text';
    readonly text: string;
    readonly annotations: readonly [];
  }[];
}

export interface OutputReasoning {
  readonly type: 'reasoning';
  readonly id: string;
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  /** Empty unless the request asks for a summary: then the text of `content`. */
  readonly summary: readonly { readonly type: 'summary_text'; readonly text: string }[];
  readonly content: readonly { readonly type: 'reasoning_text'; readonly text: string }[];
}

export interface OutputCall {
  readonly type: 'function_call';
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly status: 'in_progress' | 'completed';
}

export type OutputItem = OutputText | OutputReasoning | OutputCall;

/** What a response object has of its request. */
export type ResponseFacts = Omit<ResponsesRequest, 'renamed'>;

/** A response object: `completed` or `incomplete` with `over`, otherwise `in_progress`. */
export function responseObject(
  head: AnswerHead,
  { chat, echo, hasSummary, isBackground }: ResponseFacts,
  over?: { readonly output: readonly OutputItem[]; readonly reason: FinishReason; readonly usage: Usage },
) {
  const isCut = over?.reason === 'length';
  return {
    id: head.id,
    object: 'response',
    created_at: head.created,
    status: over === undefined ? 'in_progress' : isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    instructions: echo.instructions,
    max_output_tokens: chat.maxTokens ?? null,
    model: head.model,
    output: over?.output ?? [],
    parallel_tool_calls: chat.allowsParallelCalls,
    previous_response_id: null,
    // Of the kinds of summary, the complete text is nearest to this one.
    reasoning: { effort: null, summary: hasSummary ? 'detailed' : null },
    store: chat.isStored,
    background: isBackground,
    temperature: chat.sampling.temperature,
    text: { format: echo.format },
    tool_choice: echo.toolChoice,
    tools: echo.tools,
    top_p: chat.sampling.topP,
    truncation: 'disabled',
    usage: over ? usageOf(over.usage) : null,
    metadata: echo.metadata,
  };
}

/** The output items of a complete choice; `idOf` generates item ids. */
export function outputItems(
  { content, reasoning, toolCalls, finishReason }: ChatChoice,
  { hasSummary }: Pick<ResponsesRequest, 'hasSummary'>,
  idOf: (prefix: 'rs' | 'msg' | 'fc') => string,
): OutputItem[] {
  const status = finishReason === 'length' ? 'incomplete' : 'completed';
  const text: OutputText[] = content === null ? [] : [outputText(idOf('msg'), content, status)];
  return [
    ...(reasoning === ''
      ? []
      : [outputReasoning({ id: idOf('rs'), text: reasoning, status: 'completed', hasSummary })]),
    ...text,
    ...toolCalls.map(({ id, name, arguments: given }) =>
      outputCall({ id: idOf('fc'), callId: id, name, given, status: 'completed' }),
    ),
  ];
}

export function outputText(id: string, text: string, status: OutputText['status']): OutputText {
  const content =
    status === 'in_progress' && text === '' ? [] : [{ type: 'output_text', text, annotations: [] } as const];
  return { type: 'message', id, status, role: 'assistant', content };
}

/** `hasSummary`: the text, complete, is the summary too, for clients that read nothing else. */
export function outputReasoning({
  id,
  text,
  status,
  hasSummary,
}: Pick<OutputReasoning, 'id' | 'status'> & { readonly text: string; readonly hasSummary: boolean }): OutputReasoning {
  const [summary, content] = [{ type: 'summary_text', text } as const, { type: 'reasoning_text', text } as const];
  if (text === '') return { type: 'reasoning', id, status, summary: [], content: [] };
  return { type: 'reasoning', id, status, summary: hasSummary ? [summary] : [], content: [content] };
}

export function outputCall(call: {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly given: string;
  readonly status: OutputCall['status'];
}): OutputCall {
  const { id, callId: call_id, name, given, status } = call;
  return { type: 'function_call', id, call_id, name, arguments: given, status };
}

function usageOf({ promptTokens, completionTokens, cachedTokens, reasoningTokens = 0 }: Usage) {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
  };
}
