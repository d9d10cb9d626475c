// How a model is spread over a machine: the number of processes and the threads of each. Measured in docs/decisions,
// "Several engine processes".

interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface Arrangement {
  readonly processes: number;
  readonly threads: number;
}

/**
 * Each process may hold weights of its own in addition to the file's shared pages: all of them together use at most
 * this share of the memory.
 */
const MAX_MEMORY = 0.25;

/**
 * Values that are not given are chosen: one process per core, up to the number of slots, because the loop of one
 * process feeds one answer nearly as fast as four; a single process on a GPU or for a large model. A process does not
 * get all cores as threads where this can be avoided: the threads spin against its own loop, at a third of the speed or
 * less.
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
