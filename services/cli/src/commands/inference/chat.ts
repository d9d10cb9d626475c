// `strata inference chat`: a conversation in the terminal, the answer as it comes.
import { createInterface } from 'node:readline/promises';
import { AnswerPace, InferenceClient, InferenceProblem, type Model } from '@strata/client';
import { type CommandContext, listenForInterruption } from '../../context.ts';
import { bearer, gatewayBase } from '../../gateway-address.ts';
import { CommandError, counted, plainText } from '../../output.ts';

export interface ChatOptions {
  readonly base: string;
  readonly key?: string;
  readonly model?: string;
  readonly temperature?: number;
  /** The question is asked so many times, each time anew. */
  readonly repeat?: number;
}

/** What came. */
interface Answer {
  readonly text: string;
  /** Of its receipt. */
  readonly receiptId: string;
  /** The longest time between two pieces, in milliseconds. */
  readonly pauseMs: number;
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Answers one question, or, without one, all that is typed until Ctrl-D. */
export async function chatCommand(context: CommandContext, question: string, options: ChatOptions): Promise<void> {
  const { stdin, stderr } = context;
  const model = options.model ?? (await firstModel(options));
  const { repeat } = options;
  if (repeat !== undefined) return askAgainAndAgain(context, question, model, { ...options, repeat });
  if (question !== '') {
    await answer(context, [{ role: 'user', content: question }], model, options);
    return;
  }
  const lines = createInterface({ input: stdin });
  // Whoever pipes questions in wants the answers alone.
  const say = (text: string) => (stdin.isTTY ? stderr.write(text) : undefined);
  const prompt = () => say('> ');
  say(`${model}; Ctrl-D ends\n`);
  const turns: Turn[] = [];
  prompt();
  for await (const line of lines) {
    if (line.trim() !== '') {
      turns.push({ role: 'user', content: line });
      try {
        turns.push({ role: 'assistant', content: (await answer(context, turns, model, options)).text });
      } catch (error) {
        // Somebody at a terminal can go on; a script must hear of it.
        if (!stdin.isTTY || !(error instanceof CommandError)) throw error;
        turns.length = 0;
        stderr.write(`strata: ${error.message} (the conversation begins anew)\n`);
      }
    }
    prompt();
  }
  say('\n');
}

/** Until it is enough or SIGINT, then how that went: for whoever kills workers meanwhile. */
async function askAgainAndAgain(
  context: CommandContext,
  question: string,
  model: string,
  options: ChatOptions & { readonly repeat: number },
): Promise<void> {
  if (question === '') throw new CommandError('--repeat needs a question', { exitCode: 2 });
  const leaving = listenForInterruption(context, ['SIGINT']);
  let answers = 0;
  let slowest: Answer | undefined;
  while (answers < options.repeat && !leaving.signal.aborted) {
    const next = await answer(context, [{ role: 'user', content: question }], model, options).catch(
      (error: unknown) => {
        throw error instanceof CommandError
          ? new CommandError(`after ${counted(answers, 'whole answer')}: ${error.message}`, { cause: error })
          : error;
      },
    );
    answers += 1;
    if (!slowest || next.pauseMs > slowest.pauseMs) slowest = next;
  }
  if (!slowest) return;
  context.stderr.write(
    `${counted(answers, 'answer')}, all whole; the longest pause within one took ${slowest.pauseMs.toFixed(0)} ms, in that of receipt ${plainText(slowest.receiptId)}\n`,
  );
}

/** Prints the answer as it comes. Rejects with CommandError when it is refused or breaks off. */
async function answer(
  { stdout }: CommandContext,
  messages: readonly Turn[],
  model: string,
  options: ChatOptions,
): Promise<Answer> {
  const { temperature } = options;
  const pace = new AnswerPace(performance.now());
  let text = '';
  let receiptId = 'unknown';
  return asked(options, async (client) => {
    const request = { model, messages: [...messages], ...(temperature === undefined ? {} : { temperature }) };
    let hasBegun = false;
    try {
      for await (const event of client.answer(request)) {
        hasBegun = true;
        pace.see(event, performance.now());
        if (event.kind === 'begun') receiptId = event.receiptId ?? receiptId;
        if (event.kind !== 'text') continue;
        stdout.write(stdout.isTTY ? forTerminal(event.text) : event.text);
        text += event.text;
      }
    } catch (cause) {
      throw hasBegun && cause instanceof InferenceProblem ? new CommandError(cause.message, { cause }) : cause;
    } finally {
      if (hasBegun) stdout.write('\n');
    }
    return { text, pauseMs: pace.figures().pauseMs ?? 0, receiptId };
  });
}

/** A model's words without what steers a terminal; lines and tabs stay. A pipe gets them letter by letter. */
export function forTerminal(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '');
}

async function firstModel(options: ChatOptions): Promise<string> {
  const [first] = await askModels(options);
  if (!first) throw new CommandError('this gateway serves no model just now');
  return first.id;
}

/** What the gateway serves. Rejects with CommandError. */
export function askModels(options: ChatOptions): Promise<readonly Model[]> {
  return asked(options, (client) => client.models());
}

/** Asks the gateway; what it refuses is told in its words. Rejects with CommandError. */
async function asked<T>({ base, key }: ChatOptions, ask: (client: InferenceClient) => Promise<T>): Promise<T> {
  if (!key) throw new CommandError('which key? Give --key or STRATA_INFERENCE_KEY', { exitCode: 2 });
  // What no header can carry is a mistake in the command, not an answer of the gateway.
  bearer(key);
  const baseUrl = gatewayBase(base);
  try {
    return await ask(new InferenceClient({ baseUrl, key }));
  } catch (cause) {
    if (!(cause instanceof InferenceProblem)) throw cause;
    const isSilent = cause.code === 'network';
    throw new CommandError(isSilent ? `nothing answers at ${base}; is the gateway running?` : cause.message, { cause });
  }
}
