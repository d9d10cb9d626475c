// What a command uses of its process. A process has these members; tests pass an environment and streams of their own.
import type { Readable, Writable } from 'node:stream';

export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Destination of logs; by default the descriptor of standard error. */
  readonly log?: Writable;
  /** SIGINT and SIGTERM, and `exit` when the process ends. */
  once(event: ProcessEvent, listener: () => void): unknown;
  off(event: ProcessEvent, listener: () => void): unknown;
}

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

type ProcessEvent = 'SIGINT' | 'SIGTERM' | 'exit';
