// An engine's process as seen from within: it loads, says that it is ready, and answers what its parent asks until that goes.
import { EngineError, type JobEvent } from '../engine.ts';
import { ReadAhead } from '../read-ahead.ts';
import type { Call, FromEngine, ToEngine } from './process-messages.ts';

export interface CallContext {
  /** Number of the call. */
  readonly id: number;
  readonly signal: AbortSignal;
  readonly room: ReadAhead;
  readonly tell: (events: readonly JobEvent[]) => void;
}

export interface Served<Info> {
  readonly info: Info;
  serve(call: Call, context: CallContext): unknown;
}

/** Loads and serves; a process that cannot load tells why and ends. */
export async function serveParent<Info>(load: () => Promise<Served<Info>>): Promise<void> {
  const running = new Map<number, { readonly controller: AbortController; readonly room: ReadAhead }>();
  const send = (message: FromEngine<Info>) => {
    // A parent that has just gone is told of by `disconnect`.
    if (process.connected) process.send?.(message, () => {});
  };
  /** Without a parent there is nobody to serve. */
  process.on('disconnect', () => process.exit(0));
  // The parent decides when it is over; a Ctrl-C goes to the whole group.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

  const host = await load().catch((error: unknown) => {
    process.send?.({ kind: 'unusable', ...toldOf(error) } satisfies FromEngine<Info>, () => process.exit(1));
    return new Promise<never>(() => {});
  });

  const answer = async (id: number, call: Call) => {
    const controller = new AbortController();
    const room = new ReadAhead(controller.signal);
    running.set(id, { controller, room });
    const tell = (events: readonly JobEvent[]) => send({ kind: 'events', id, events });
    try {
      send({ kind: 'value', id, value: await host.serve(call, { id, signal: controller.signal, room, tell }) });
    } catch (error) {
      // Who went away hears nothing.
      if (!controller.signal.aborted) send({ kind: 'failed', id, ...toldOf(error) });
    } finally {
      running.delete(id);
    }
  };
  process.on('message', (message: ToEngine) => {
    if (message.kind === 'ping') send({ kind: 'pong' });
    else if (message.kind === 'abort') running.get(message.id)?.controller.abort();
    else if (message.kind === 'taken') running.get(message.id)?.room.taken(message.tokens);
    else void answer(message.id, message.call);
  });
  send({ kind: 'ready', info: host.info });
}

function toldOf(error: unknown): { readonly code: EngineError['code']; readonly message: string } {
  if (error instanceof EngineError) return { code: error.code, message: error.message };
  return { code: 'crashed', message: error instanceof Error ? error.message : String(error) };
}
