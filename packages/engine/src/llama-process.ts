// The engine's own process: a prompt that is being read holds up no other stream, and a crash of native code ends only this.
import { EngineError, type JobEvent } from './engine.ts';
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
    case 'generate':
      await host.run(call.job, { tell: gathering(id), signal });
      // After the last of its events.
      return new Promise<void>((resolve) => setImmediate(resolve));
    default:
      return call satisfies never;
  }
}

/** Events of one turn of the loop go out together: each message costs about as much as a small token. */
function gathering(id: number): (event: JobEvent) => void {
  let events: JobEvent[] = [];
  return (event) => {
    if (events.push(event) > 1) return;
    setImmediate(() => {
      send({ kind: 'events', id, events });
      events = [];
    });
  };
}

function toldOf(error: unknown): { readonly code: EngineError['code']; readonly message: string } {
  if (error instanceof EngineError) return { code: error.code, message: error.message };
  return { code: 'crashed', message: error instanceof Error ? error.message : String(error) };
}

function send(message: FromEngine): void {
  // A parent that has just gone is told of by `disconnect`.
  if (process.connected) process.send?.(message, () => {});
}
