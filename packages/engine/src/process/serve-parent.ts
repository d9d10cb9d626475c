// The child side of an engine process: loads, reports that it is ready, and serves its parent's calls until it
// disconnects.
import { EngineError, type JobEvent } from '../engine.ts';
import { ReadAhead } from '../read-ahead.ts';
import type { Call, FromEngine, ToEngine } from './process-messages.ts';

export interface CallContext {
  /** Number of the call. */
  readonly id: number;
  readonly signal: AbortSignal;
  readonly readAhead: ReadAhead;
  readonly emit: (events: readonly JobEvent[]) => void;
}

export interface Served<Info> {
  readonly info: Info;
  serve(call: Call, context: CallContext): unknown;
}

/** Loads and serves; a process that cannot load reports the reason and exits. */
export async function serveParent<Info>(load: () => Promise<Served<Info>>): Promise<void> {
  const running = new Map<number, { readonly controller: AbortController; readonly readAhead: ReadAhead }>();
  const send = (message: FromEngine<Info>) => {
    // `disconnect` handles a parent that has just exited.
    if (process.connected) process.send?.(message, () => {});
  };
  /** The process has no purpose without its parent. */
  process.on('disconnect', () => process.exit(0));
  // The parent decides when to stop; Ctrl-C signals the entire process group.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

  const host = await load().catch((error: unknown) => {
    process.send?.({ kind: 'unusable', ...messageOf(error) } satisfies FromEngine<Info>, () => process.exit(1));
    return new Promise<never>(() => {});
  });

  const answer = async (id: number, call: Call) => {
    const controller = new AbortController();
    const readAhead = new ReadAhead(controller.signal);
    running.set(id, { controller, readAhead });
    const emit = (events: readonly JobEvent[]) => send({ kind: 'events', id, events });
    try {
      send({ kind: 'value', id, value: await host.serve(call, { id, signal: controller.signal, readAhead, emit }) });
    } catch (error) {
      // The caller of an aborted call expects no response.
      if (!controller.signal.aborted) send({ kind: 'failed', id, ...messageOf(error) });
    } finally {
      running.delete(id);
    }
  };
  process.on('message', (message: ToEngine) => {
    if (message.kind === 'ping') send({ kind: 'pong' });
    else if (message.kind === 'abort') running.get(message.id)?.controller.abort();
    else if (message.kind === 'taken') running.get(message.id)?.readAhead.consumed(message.tokens);
    else void answer(message.id, message.call);
  });
  send({ kind: 'ready', info: host.info });
}

function messageOf(error: unknown): { readonly code: EngineError['code']; readonly message: string } {
  if (error instanceof EngineError) return { code: error.code, message: error.message };
  return { code: 'crashed', message: error instanceof Error ? error.message : String(error) };
}
