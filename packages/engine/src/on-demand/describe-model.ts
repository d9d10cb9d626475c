// What is known of a model without loading it.
import type { ModelInfo } from '../engine.ts';
import { EngineChild } from '../process/engine-child.ts';
import type { LlamaEngineOptions } from '../process/llama-engine.ts';

export interface ModelDescription {
  /** As the loaded model describes itself. */
  readonly info: ModelInfo;
  /** Estimated memory of the loaded model in all of its processes, on the device if there is one. */
  readonly memoryBytes: number;
  /** Estimated further memory from the first vector on. */
  readonly vectorBytes: number;
  /** Free memory of the device; undefined without one. */
  readonly freeDeviceBytes: number | undefined;
}

export type DescribeOptions = LlamaEngineOptions & { readonly processes: number };

/** Resident memory of a process before it loads a model: 155 MB measured. */
export const PROCESS_BYTES = 160 * 1024 * 1024;
const SILENCE_MS = 30_000;

/** Reads the complete file, for its digest. Rejects with EngineError, or with the signal's reason when aborted. */
export async function describeModel(options: DescribeOptions, signal?: AbortSignal): Promise<ModelDescription> {
  signal?.throwIfAborted();
  await using child = new EngineChild<ModelDescription>({
    entry: new URL('describe-process.ts', import.meta.url),
    ...{ options, silenceMs: SILENCE_MS, isCpuOnly: options.gpu === false },
  });
  const stop = () => child.kill('not needed');
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await child.ready;
  } finally {
    signal?.removeEventListener('abort', stop);
    signal?.throwIfAborted();
  }
}
