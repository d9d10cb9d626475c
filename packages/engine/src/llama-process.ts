// The engine's own process: a prompt that is being read holds up no other stream, and a crash of native code ends only this.
import { EngineError, type Job, type JobEvent } from './engine.ts';
import { LlamaHost, type LlamaOptions } from './llama-model.ts';
import type { Call, FromEngine, ToEngine } from './process-messages.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as LlamaOptions;
const running = new Map<number, AbortController>();
/** Without a parent there is nobody to serve. */
process.on('disconnect', () => process.exit(0));
// The parent decides when it is over; a Ctrl-C goes to the whole group.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const host = await LlamaHost.load(options).catch((error: unknown) => {
  process.send?.({ kind: 'unusable', ...toldOf(error) } satisfies FromEngine, () => process.exit(1));
  return new Promise<never>(() => {});
});
send({ kind: 'ready', info: host.info });

process.on('message', (message: ToEngine) => {
  if (message.kind === 'ping') send({ kind: 'pong' });
  else if (message.kind === 'abort') running.get(message.id)?.abort();
  else void answer(message.id, message.call);
});

async function answer(id: number, call: Call): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  try {
    send({ kind: 'value', id, value: await serve(id, call, controller.signal) });
  } catch (error) {
    // Who went away hears nothing.
    if (!controller.signal.aborted) send({ kind: 'failed', id, ...toldOf(error) });
  } finally {
    running.delete(id);
  }
}

async function serve(id: number, call: Call, signal: AbortSignal): Promise<unknown> {
  switch (call.kind) {
    case 'tokenize':
      return host.tokenize(call.text, call.hasControl);
    case 'detokenize':
      return host.detokenize(call.tokens);
    case 'render':
      return host.render(call.prompt);
    case 'embed':
      return host.embed(call.tokens);
    case 'score':
      return host.score(call.job, signal);
    case 'generate':
      return generate(id, call.job, signal);
    default:
      return call satisfies never;
  }
}

async function generate(id: number, job: Job, signal: AbortSignal): Promise<void> {
  const gathered = new Gathering((events) => send({ kind: 'events', id, events }));
  try {
    await host.run(job, { tell: (event) => gathered.push(event), signal });
  } finally {
    gathered.flush();
  }
}

/** Events that follow each other within this go out together: each message costs as much as a small model's token. */
const GATHER_MS = 4;

class Gathering {
  readonly #send: (events: readonly JobEvent[]) => void;
  #events: JobEvent[] = [];
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (events: readonly JobEvent[]) => void) {
    this.#send = send;
  }

  /** What comes after a pause goes out at once: a first token, and every one of a model that takes its time. */
  push(event: JobEvent): void {
    this.#events.push(event);
    if (this.#timer) return;
    const wait = this.#sentAt + GATHER_MS - performance.now();
    if (wait <= 0) this.flush();
    else this.#timer = setTimeout(() => this.flush(), wait);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#events.length === 0) return;
    this.#send(this.#events);
    this.#events = [];
    this.#sentAt = performance.now();
  }
}

function toldOf(error: unknown): { readonly code: EngineError['code']; readonly message: string } {
  if (error instanceof EngineError) return { code: error.code, message: error.message };
  return { code: 'crashed', message: error instanceof Error ? error.message : String(error) };
}

function send(message: FromEngine): void {
  // A parent that has just gone is told of by `disconnect`.
  if (process.connected) process.send?.(message, () => {});
}
