// An answer from its choices: gathered into one body, or sent chunk by chunk.
import type { Engine } from '@strata/engine';
import {
  type AnswerHead,
  type ChatChoice,
  type ChatDelta,
  type ChosenLogprob,
  chatChunk,
  type FinishReason,
  type Generation,
  type ToolCall,
  textChunk,
  type Usage,
  usageChunk,
} from '@strata/inference';
import type { Admission } from './admission.ts';
import { type ChoiceUsage, choiceDeltas } from './choice.ts';
import type { EventWriter } from './event-writer.ts';
import type { Plan } from './plan-chat.ts';
import type { ResponseEvents } from './response-events.ts';

export interface Asked {
  readonly engine: Engine;
  readonly plan: Plan;
  readonly request: Generation;
  readonly head: AnswerHead;
  readonly admission: Admission;
  /** Id of the key that asks. */
  readonly caller: string;
  readonly signal: AbortSignal;
}

/** Every choice, whole. */
export async function gather(
  asked: Asked,
): Promise<{ readonly choices: readonly ChatChoice[]; readonly usage: Usage }> {
  const usages: ChoiceUsage[] = [];
  const choices = await Promise.all(
    asked.plan.jobs.map(async (_, index) => {
      let content = '';
      let logprobs: ChosenLogprob[] | undefined = asked.request.topLogprobs === undefined ? undefined : [];
      const calls: ToolCall[] = [];
      let finishReason: FinishReason = 'stop';
      for await (const delta of choice(asked, index, usages)) {
        if (delta.kind === 'text') {
          content += delta.text;
          logprobs = logprobs && [...logprobs, ...(delta.logprobs ?? [])];
        } else if (delta.kind === 'call') calls[delta.at] = { id: delta.id, name: delta.name, arguments: '' };
        else if (delta.kind === 'arguments') {
          const call = calls[delta.at] as ToolCall;
          calls[delta.at] = { ...call, arguments: call.arguments + delta.text };
        } else if (delta.kind === 'end') finishReason = delta.reason;
      }
      return { content: content === '' && calls.length > 0 ? null : content, toolCalls: calls, logprobs, finishReason };
    }),
  );
  return { choices, usage: total(asked, usages) };
}

/** Sends every choice as it comes, then what was asked for besides. A failure after the first chunk is thrown like any other. */
export async function stream(
  asked: Asked,
  writer: EventWriter,
  kind: 'chat.completion.chunk' | 'text_completion',
): Promise<Usage> {
  const { head, request } = asked;
  const usages: ChoiceUsage[] = [];
  const hasUsage = request.hasUsageChunk;
  await Promise.all(
    asked.plan.jobs.map(async (_, index) => {
      for await (const delta of choice(asked, index, usages)) {
        writer.begin();
        const chunk =
          kind === 'text_completion' ? textChunkOf(head, index, delta) : chatChunk(head, { index, delta, hasUsage });
        if (chunk) await writer.send(chunk);
      }
    }),
  );
  const usage = total(asked, usages);
  if (hasUsage) await writer.send(usageChunk(head, usage, kind));
  await writer.send('[DONE]');
  return usage;
}

/** The only choice of an answer as typed events, and the event that ends it. */
export async function streamResponse(asked: Asked, writer: EventWriter, events: ResponseEvents): Promise<void> {
  const usages: ChoiceUsage[] = [];
  let reason: FinishReason = 'stop';
  for await (const delta of choice(asked, 0, usages)) {
    writer.begin();
    if (delta.kind === 'end') reason = delta.reason;
    for (const event of events.take(delta)) await writer.send(event, event.type);
  }
  const last = events.end(reason, total(asked, usages));
  await writer.send(last, last.type);
}

/** One choice, once there is a place for it. */
async function* choice(asked: Asked, index: number, usages: ChoiceUsage[]): AsyncGenerator<ChatDelta> {
  const { engine, plan, request, admission, caller, signal } = asked;
  const job = plan.jobs[index];
  if (!job) throw new RangeError(`there is no choice ${index}`);
  const usage: ChoiceUsage = { completionTokens: 0, cachedTokens: 0 };
  usages.push(usage);
  const { tools, isCallForced } = plan;
  using _place = await admission.enter(caller, signal);
  yield* choiceDeltas(engine, job, { stops: request.stops, tools, isCallForced, signal, usage });
}

function textChunkOf(head: AnswerHead, index: number, delta: ChatDelta) {
  if (delta.kind === 'text')
    return textChunk(head, [{ index, text: delta.text, logprobs: delta.logprobs, finishReason: null }]);
  if (delta.kind === 'end')
    return textChunk(head, [{ index, text: '', logprobs: undefined, finishReason: delta.reason }]);
  return undefined;
}

/** The prompt counts once, however many choices it has. */
function total({ plan }: Asked, usages: readonly ChoiceUsage[]): Usage {
  return {
    promptTokens: plan.jobs[0]?.prompt.length ?? 0,
    completionTokens: usages.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    cachedTokens: Math.max(0, ...usages.map(({ cachedTokens }) => cachedTokens)),
  };
}
