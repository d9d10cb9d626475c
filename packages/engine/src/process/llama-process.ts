// Entry point of the engine process: reading a prompt blocks no other stream, and a crash of native code ends only this
// process.
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
    case 'spell':
      return host.vocabulary.spell(call.tokens);
    case 'bytes':
      return call.tokens.map((token) => host.vocabulary.bytesOf(token));
    case 'render':
      return host.vocabulary.render(call.prompt);
    case 'marks':
      return host.vocabulary.marks();
    case 'ends':
      return host.vocabulary.ends();
    case 'embed':
      return host.embed(call.tokens);
    case 'score':
      return host.score(call.job, { call: context.id, signal: context.signal });
    case 'generate':
      return generate(host, call.job, context);
    case 'open':
      throw new EngineError('model-unusable', 'the engine process already has a model, which it opened at startup');
    default:
      return call satisfies never;
  }
}

async function generate(host: LlamaHost, job: Job, { id, signal, readAhead, emit }: CallContext): Promise<void> {
  const batch = new EventBatch(emit);
  const push = (event: JobEvent) => {
    if (event.kind === 'token') readAhead.produced();
    batch.push(event);
  };
  try {
    await host.run(job, { call: id, emit: push, waitForCapacity: () => readAhead.waitForCapacity(), signal });
  } finally {
    batch.flush();
  }
}

/** Events within this interval are sent in one message: a message costs as much as a token of a small model. */
const BATCH_MS = 4;

class EventBatch {
  readonly #send: (events: readonly JobEvent[]) => void;
  #events: JobEvent[] = [];
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (events: readonly JobEvent[]) => void) {
    this.#send = send;
  }

  /** An event after a longer gap is sent at once: the first token, and every token of a slow model. */
  push(event: JobEvent): void {
    this.#events.push(event);
    if (this.#timer) return;
    const wait = this.#sentAt + BATCH_MS - performance.now();
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
