// `strata inference chat`: one question, or a conversation; prints answers while they are generated.
import { createInterface } from 'node:readline/promises';
import { AnswerSpeed, InferenceClient, InferenceProblem, type Model } from '@strata/client';
import type { CommandContext } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';
import { listenForInterruption } from '../../interruption.ts';
import { counted, plainText } from '../../output.ts';
import { checkedKey, gatewayBase } from '../../service-address.ts';

export interface ChatOptions {
  readonly base: string;
  readonly key?: string;
  readonly model?: string;
  readonly temperature?: number;
  /** How often the question is asked, each time as a new conversation. */
  readonly repeat?: number;
}

interface Answer {
  readonly text: string;
  readonly receiptId: string;
  /** The longest time between two pieces of text. */
  readonly pauseMs: number;
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Asks one question, or, without one, each line of standard input. */
export async function chatCommand(context: CommandContext, question: string, options: ChatOptions): Promise<void> {
  const { stdin, stderr } = context;
  const model = options.model ?? (await firstModel(options));
  const { repeat } = options;
  if (repeat !== undefined) return repeatQuestion(context, question, model, { ...options, repeat });
  if (question !== '') {
    await answer(context, [{ role: 'user', content: question }], model, options);
    return;
  }
  const lines = createInterface({ input: stdin });
  // Prompts are for terminals only.
  const prompt = (text: string) => (stdin.isTTY ? stderr.write(text) : undefined);
  prompt(`${model}; press Ctrl-D to exit\n`);
  const messages: Message[] = [];
  prompt('> ');
  for await (const line of lines) {
    if (line.trim() !== '') {
      messages.push({ role: 'user', content: line });
      try {
        messages.push({ role: 'assistant', content: (await answer(context, messages, model, options)).text });
      } catch (error) {
        // A terminal session continues; a script must get the exit code.
        if (!stdin.isTTY || !(error instanceof CommandError)) throw error;
        messages.length = 0;
        stderr.write(`strata: ${error.message} (starting a new conversation)\n`);
      }
    }
    prompt('> ');
  }
  prompt('\n');
}

/** Asks until the count is reached or SIGINT, then prints a summary. */
async function repeatQuestion(
  context: CommandContext,
  question: string,
  model: string,
  options: ChatOptions & { readonly repeat: number },
): Promise<void> {
  if (question === '') throw usageError('--repeat needs a question');
  const { signal } = listenForInterruption(context, ['SIGINT']);
  let answers = 0;
  let slowest: Answer | undefined;
  while (answers < options.repeat && !signal.aborted) {
    const next = await answer(context, [{ role: 'user', content: question }], model, options).catch(
      (error: unknown) => {
        throw error instanceof CommandError
          ? new CommandError(`after ${counted(answers, 'complete answer')}: ${error.message}`, { cause: error })
          : error;
      },
    );
    answers += 1;
    if (!slowest || next.pauseMs > slowest.pauseMs) slowest = next;
  }
  if (!slowest) return;
  context.stderr.write(
    `${counted(answers, 'complete answer')}; longest pause ${slowest.pauseMs.toFixed(0)} ms (receipt ${plainText(slowest.receiptId)})\n`,
  );
}

/** Prints the answer while it is generated. Rejects with CommandError when it is refused or breaks off. */
async function answer(
  { stdout }: CommandContext,
  messages: readonly Message[],
  model: string,
  options: ChatOptions,
): Promise<Answer> {
  const { temperature } = options;
  const speed = new AnswerSpeed(performance.now());
  let text = '';
  let receiptId = 'unknown';
  return withClient(options, async (client) => {
    const request = { model, messages: [...messages], ...(temperature === undefined ? {} : { temperature }) };
    let hasStarted = false;
    try {
      for await (const event of client.answer(request)) {
        hasStarted = true;
        speed.record(event, performance.now());
        if (event.kind === 'begun') receiptId = event.receiptId ?? receiptId;
        if (event.kind !== 'text') continue;
        stdout.write(stdout.isTTY ? forTerminal(event.text) : event.text);
        text += event.text;
      }
    } catch (cause) {
      throw hasStarted && cause instanceof InferenceProblem ? new CommandError(cause.message, { cause }) : cause;
    } finally {
      if (hasStarted) stdout.write('\n');
    }
    return { text, pauseMs: speed.figures().pauseMs ?? 0, receiptId };
  });
}

/** Removes control characters except line feeds and tabs. Output that is not a terminal gets the text unchanged. */
export function forTerminal(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '');
}

async function firstModel(options: ChatOptions): Promise<string> {
  const [first] = await fetchModels(options);
  if (!first) throw new CommandError('the gateway serves no model');
  return first.id;
}

/** The models that the gateway serves. Rejects with CommandError. */
export function fetchModels(options: ChatOptions): Promise<readonly Model[]> {
  return withClient(options, (client) => client.models());
}

/** Rejects with CommandError; a refusal of the gateway keeps its message. */
async function withClient<T>(
  { base, key: given }: ChatOptions,
  ask: (client: InferenceClient) => Promise<T>,
): Promise<T> {
  const key = checkedKey(given, '--key, STRATA_INFERENCE_KEY');
  if (key === undefined) throw usageError('no API key; set --key or STRATA_INFERENCE_KEY');
  const baseUrl = gatewayBase(base);
  try {
    return await ask(new InferenceClient({ baseUrl, key }));
  } catch (cause) {
    throw commandErrorOf(cause, base);
  }
}

/** A problem of the gateway as an error of the command; another error unchanged. */
export function commandErrorOf(cause: unknown, base: string): unknown {
  if (!(cause instanceof InferenceProblem)) return cause;
  const message = cause.code === 'network' ? `no response from ${base}; is the gateway running?` : cause.message;
  return new CommandError(message, { cause });
}
