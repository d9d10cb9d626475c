// How a model is spread over a machine: processes, and threads of each. Measured: docs/decisions, "Several engine processes".

export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface Arrangement {
  readonly processes: number;
  readonly threads: number;
}

/** Processes may keep weights of their own beside the file's shared pages: together at most this part of the memory. */
const MAX_MEMORY = 0.25;

/**
 * What is not given is chosen: a process for each core and no more than there are slots, because the loop of one process
 * feeds one answer nearly as fast as four; one process alone on a GPU, or where the weights are large. No process
 * gets all cores as threads where it can be helped: they spin against its own loop, at a third of the speed or less.
 */
export function arrange(
  machine: Machine,
  model: { readonly slots: number; readonly sizeBytes: number; readonly hasGpu: boolean },
  given: Partial<Arrangement> = {},
): Arrangement {
  const { cores, memoryBytes } = machine;
  const max = Math.min(cores, model.slots);
  const isLarge = model.sizeBytes * max > memoryBytes * MAX_MEMORY;
  const processes = Math.min(given.processes ?? (model.hasGpu || isLarge ? 1 : max), model.slots);
  return { processes, threads: given.threads ?? Math.max(1, Math.floor((cores - 1) / processes)) };
}
