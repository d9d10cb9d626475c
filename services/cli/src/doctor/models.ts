// Checks whether the configured model is available and fits into memory.
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
      ? ok(
          check,
          `${model}; ${here.length} downloaded in ${store.dir}, missing files are downloaded from ${store.endpoint}`,
        )
      : warning(check, {
          found: `${model}; no downloads in ${store.dir}`,
          means: 'The first start waits for the download.',
          todo: `Download it now: strata inference models pull ${model}.`,
        });
  }
  try {
    await using handle = await open(model, 'r');
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.toString('latin1') !== MAGIC)
      return problem(check, {
        found: `${model} is not a GGUF file`,
        means: 'The engine cannot load it.',
        todo: 'Use a GGUF file; to resume a download: strata inference models pull.',
      });
    if (size > memoryBytes)
      return problem(check, {
        found: `${model} has ${bytes(size)}, more than the memory of ${bytes(memoryBytes)}`,
        means: 'The engine reads it from disk for every token, or the system kills it.',
        todo: 'Use a smaller quantisation, or add memory.',
      });
    return ok(check, `${model}, ${bytes(size)}`);
  } catch (error) {
    return problem(check, {
      found: `${model} cannot be read: ${(error as Error).message}`,
      means: 'There is no model to serve.',
      todo: 'Correct STRATA_MODEL, or give the user of the service read permission.',
    });
  }
}
