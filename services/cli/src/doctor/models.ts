// Whether the model that the settings name can be had and fits.
import { open } from 'node:fs/promises';
import type { ModelSettings } from '@strata/engine';
import { bytes, type Finding, ok, problem, warning } from './finding.ts';

/** The first four bytes of every GGUF file. */
const MAGIC = 'GGUF';

export async function checkModel(
  model: string,
  store: ModelSettings['modelStore'],
  memoryBytes: number,
): Promise<Finding> {
  const check = 'model';
  if (model.startsWith('hf:')) {
    const { listModels } = await import('@strata/engine');
    const here = await listModels(store.dir).catch(() => []);
    return here.length > 0
      ? ok(check, `${model}; ${here.length} downloaded in ${store.dir}, what is missing comes from ${store.endpoint}`)
      : warning(check, {
          found: `${model}; nothing is downloaded in ${store.dir} yet`,
          means: 'The first start waits for the download.',
          todo: `Have it before: strata inference models pull ${model}.`,
        });
  }
  try {
    await using handle = await open(model, 'r');
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.toString('latin1') !== MAGIC)
      return problem(check, {
        found: `${model} is no GGUF file`,
        means: 'The engine cannot load it.',
        todo: 'Name a GGUF file; a download that broke off is tried again with strata inference models pull.',
      });
    if (size > memoryBytes)
      return problem(check, {
        found: `${model} has ${bytes(size)}, the memory ${bytes(memoryBytes)}`,
        means: 'The engine would read it from the disk for every token, or be ended.',
        todo: 'Choose a smaller quantisation, or more memory.',
      });
    return ok(check, `${model}, ${bytes(size)}`);
  } catch (error) {
    return problem(check, {
      found: `${model} cannot be read: ${(error as Error).message}`,
      means: 'There is nothing to serve.',
      todo: 'Name another with STRATA_MODEL, or let the service’s user read it.',
    });
  }
}
