// SIGINT and SIGTERM while a command works.
import type { CommandContext } from './context.ts';
import { CommandError } from './errors.ts';

type SignalName = 'SIGINT' | 'SIGTERM';
const BOTH: readonly SignalName[] = ['SIGINT', 'SIGTERM'];

export interface Interruption {
  /** Aborted by the first signal; a second one ends the process as usual. */
  readonly signal: AbortSignal;
  /** Stops listening. */
  release(): void;
}

export function listenForInterruption(context: CommandContext, names: readonly SignalName[] = BOTH): Interruption {
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

/** Runs `work`. Rejects with a CommandError of exit code 130 where a signal ended it; `state` says what the interruption leaves. */
export async function runInterruptible<T>(
  context: CommandContext,
  { state, names = BOTH }: { readonly state: string; readonly names?: readonly SignalName[] },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, release } = listenForInterruption(context, names);
  try {
    return await work(signal);
  } catch (error) {
    if (signal.aborted) throw new CommandError(`interrupted: ${state}`, { exitCode: 130, cause: error });
    throw error;
  } finally {
    release();
  }
}
