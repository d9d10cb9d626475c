// What a command uses of its process. The process itself fits; tests give a command an environment and streams of its own.
import type { Readable, Writable } from 'node:stream';

export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Where logs go; without it, to standard error by its descriptor. */
  readonly log?: Writable;
  /** SIGINT and SIGTERM, and `exit` when the process ends. */
  once(event: ProcessEvent, listener: () => void): unknown;
  off(event: ProcessEvent, listener: () => void): unknown;
}

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

type ProcessEvent = 'SIGINT' | 'SIGTERM' | 'exit';

export interface Interruption {
  /** Aborted by the first signal; a second one ends the process as usual. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  release(): void;
}

/** Listens for these signals of the process. */
export function listenForInterruption(
  context: CommandContext,
  names: readonly ('SIGINT' | 'SIGTERM')[] = ['SIGINT', 'SIGTERM'],
): Interruption {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const name of names) context.once(name, stop);
  return {
    signal: stopping.signal,
    release() {
      for (const name of names) context.off(name, stop);
    },
  };
}
