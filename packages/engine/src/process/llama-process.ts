// The engine's own process: a prompt that is being read holds up no other stream, and a crash of native code ends only this.
import { EngineError, type Job, type JobEvent } from '../engine.ts';
import { LlamaHost, type LlamaOptions } from '../llama/llama-model.ts';
import type { Call } from './process-messages.ts';
import { type CallContext, serveParent } from './serve-parent.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as LlamaOptions;

await serveParent(async () => {
  const host = await LlamaHost.load(options);
  return { info: host.info, serve: (call, context) => serve(host, call, context) };
});

function serve(host: LlamaHost, call: Call, context: CallContext): unknown {
  switch (call.kind) {
    case 'tokenize':
      return host.vocabulary.tokenize(call.text, call.hasControl);
    case 'detokenize':
      return host.vocabulary.detokenize(call.tokens);
    case 'render':
      return host.vocabulary.render(call.prompt);
    case 'embed':
      return host.embed(call.tokens);
    case 'score':
      return host.score(call.job, { call: context.id, signal: context.signal });
    case 'generate':
      return generate(host, call.job, context);
    case 'open':
      throw new EngineError('model-unusable', 'an engine has its model from its start');
    default:
      return call satisfies never;
  }
}

async function generate(host: LlamaHost, job: Job, { id, signal, room, tell }: CallContext): Promise<void> {
  const gathered = new Gathering(tell);
  const push = (event: JobEvent) => {
    if (event.kind === 'token') room.told();
    gathered.push(event);
  };
  try {
    await host.run(job, { call: id, tell: push, hasRoom: () => room.wait(), signal });
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
