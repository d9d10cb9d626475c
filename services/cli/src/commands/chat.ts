// `strata inference chat`: a conversation in the terminal, the answer as it comes.
import { createInterface } from 'node:readline/promises';
import { bearer, gatewayBase } from '../gateway-address.ts';
import { CommandError, counted, plainText } from '../output.ts';

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
export async function chatCommand(question: string, options: ChatOptions): Promise<void> {
  const model = options.model ?? (await firstModel(options));
  const { repeat } = options;
  if (repeat !== undefined) return askAgainAndAgain(question, model, { ...options, repeat });
  if (question !== '') {
    await answer([{ role: 'user', content: question }], model, options);
    return;
  }
  const lines = createInterface({ input: process.stdin });
  // Whoever pipes questions in wants the answers alone.
  const say = (text: string) => (process.stdin.isTTY ? process.stderr.write(text) : undefined);
  const prompt = () => say('> ');
  say(`${model}; Ctrl-D ends\n`);
  const turns: Turn[] = [];
  prompt();
  for await (const line of lines) {
    if (line.trim() !== '') {
      turns.push({ role: 'user', content: line });
      try {
        turns.push({ role: 'assistant', content: (await answer(turns, model, options)).text });
      } catch (error) {
        // Somebody at a terminal can go on; a script must hear of it.
        if (!process.stdin.isTTY || !(error instanceof CommandError)) throw error;
        turns.length = 0;
        process.stderr.write(`strata: ${error.message} (the conversation begins anew)\n`);
      }
    }
    prompt();
  }
  say('\n');
}

/** Until it is enough or SIGINT, then how that went: for whoever kills workers meanwhile. */
async function askAgainAndAgain(
  question: string,
  model: string,
  options: ChatOptions & { readonly repeat: number },
): Promise<void> {
  if (question === '') throw new CommandError('--repeat needs a question', { exitCode: 2 });
  const leaving = new AbortController();
  process.once('SIGINT', () => leaving.abort());
  let answers = 0;
  let slowest: Answer | undefined;
  while (answers < options.repeat && !leaving.signal.aborted) {
    const next = await answer([{ role: 'user', content: question }], model, options).catch((error: unknown) => {
      throw error instanceof CommandError
        ? new CommandError(`after ${counted(answers, 'whole answer')}: ${error.message}`, { cause: error })
        : error;
    });
    answers += 1;
    if (!slowest || next.pauseMs > slowest.pauseMs) slowest = next;
  }
  if (!slowest) return;
  process.stderr.write(
    `${counted(answers, 'answer')}, all whole; the longest pause within one took ${slowest.pauseMs.toFixed(0)} ms, in that of receipt ${plainText(slowest.receiptId)}\n`,
  );
}

/** Prints the answer as it comes. Rejects with CommandError when it is refused or breaks off. */
async function answer(messages: readonly Turn[], model: string, options: ChatOptions): Promise<Answer> {
  const { temperature } = options;
  const body = { model, messages, stream: true, ...(temperature === undefined ? {} : { temperature }) };
  const response = await askGateway('/v1/chat/completions', options, body);
  let text = '';
  let isWhole = false;
  let pauseMs = 0;
  let lastAt: number | undefined;
  for await (const event of eventsOf(response)) {
    if (event === '[DONE]') {
      isWhole = true;
      break;
    }
    const { choices, error } = JSON.parse(event) as {
      readonly choices?: readonly { readonly delta: { readonly content?: string } }[];
      readonly error?: { readonly message: string };
    };
    if (error) throw new CommandError(error.message);
    const piece = choices?.[0]?.delta.content ?? '';
    const now = performance.now();
    pauseMs = Math.max(pauseMs, now - (lastAt ?? now));
    // How long the first piece takes is another matter.
    if (text + piece !== '') lastAt = now;
    process.stdout.write(piece);
    text += piece;
  }
  process.stdout.write('\n');
  if (!isWhole) throw new CommandError('the answer broke off before its end');
  return { text, pauseMs, receiptId: response.headers.get('x-receipt-id') ?? 'unknown' };
}

async function firstModel(options: ChatOptions): Promise<string> {
  const { data } = (await (await askGateway('/v1/models', options)).json()) as {
    readonly data: readonly { readonly id: string }[];
  };
  const [first] = data;
  if (!first) throw new CommandError('this gateway serves no model just now');
  return first.id;
}

/** Asks the gateway; what it refuses is told in its words. */
export async function askGateway(path: string, { base, key }: ChatOptions, body?: object): Promise<Response> {
  if (!key) throw new CommandError('which key? Give --key or STRATA_INFERENCE_KEY', { exitCode: 2 });
  const authorization = bearer(key);
  const url = gatewayBase(base) + path;
  const response = await fetch(url, {
    headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  }).catch((cause: unknown) => {
    throw new CommandError(`nothing answers at ${base}; is the gateway running?`, { cause });
  });
  if (response.ok) return response;
  const told = (await response.json().catch(() => undefined)) as
    | { readonly error?: { readonly message?: string } }
    | undefined;
  throw new CommandError(told?.error?.message ?? `the gateway answered ${response.status}`);
}

/** Data of the events of a stream, up to where it ends or breaks off. */
async function* eventsOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split(/\r\n|\n/);
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data:')) yield line.slice('data:'.length).trimStart();
    }
  } catch (error) {
    // The connection broke: whoever reads sees that there was no end.
    if (!(error instanceof TypeError)) throw error;
  }
}
