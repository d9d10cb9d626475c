// Entry point of a short process: describes a model, and estimates the memory that it needs, without loading its weights.
import { hashFile } from '@strata/files';
import { GgmlType, getLlama, LlamaLogLevel, type LlamaModel } from 'node-llama-cpp';
import { ATTENTION, type AttentionOptions, attentionOf } from '../attention.ts';
import { EngineError } from '../engine.ts';
import { vectorBatch } from '../llama/embedder.ts';
import { defaultContext } from '../llama/llama-vocabulary.ts';
import { modelInfo } from '../llama/model-info.ts';
import { PREFILL_TOKENS } from '../llama/read-tokens.ts';
import { serveParent } from '../process/serve-parent.ts';
import { type DescribeOptions, type ModelDescription, PROCESS_BYTES } from './describe-model.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as DescribeOptions;

await serveParent(async () => ({
  info: await describe(options),
  serve: () => {
    throw new EngineError('model-unusable', 'the model was only described');
  },
}));

async function describe({ file, slots, gpu, contextLength: given }: DescribeOptions): Promise<ModelDescription> {
  const { processes, attention = ATTENTION } = options;
  try {
    const llama = await getLlama({ gpu, build: 'never', skipDownload: true, logLevel: LlamaLogLevel.error });
    const model = await llama.loadModel({ modelPath: file, vocabOnly: true });
    const contextLength = given ?? defaultContext(model.fileInsights.trainContextSize ?? 0);
    const hasDevice = llama.gpu !== false;
    const arranged = { contextLength, slots: Math.ceil(slots / processes), hasDevice, attention };
    return {
      info: await modelInfo(model, { file, slots, contextLength, sha256: await hashFile(file) }),
      memoryBytes: processes * (await memoryOf(model, arranged)),
      vectorBytes: processes * (await vectorMemoryOf(model, arranged)),
      freeDeviceBytes: hasDevice ? (await llama.getVramState()).free : undefined,
    };
  } catch (cause) {
    throw new EngineError('model-unusable', `the model ${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

interface MemoryOptions {
  readonly contextLength: number;
  readonly slots: number;
  readonly hasDevice: boolean;
  readonly attention: AttentionOptions;
}

/** Weights, key-value cache and buffers of one process, in the memory of the device if there is one. */
async function memoryOf(
  { fileInsights }: LlamaModel,
  { contextLength, slots, hasDevice, attention }: MemoryOptions,
): Promise<number> {
  const gpuLayers = hasDevice ? fileInsights.totalLayers : 0;
  const weights = await fileInsights.estimateModelResourceRequirementsV2({ gpuLayers });
  const { flashAttention, ...types } = attentionOf(attention, hasDevice);
  const context = await fileInsights.estimateContextResourceRequirementsV2({
    ...{ contextSize: contextLength, sequences: slots, batchSize: PREFILL_TOKENS },
    ...{ modelGpuLayers: gpuLayers, flashAttention },
    kvCacheKeyType: GgmlType[types.experimentalKvCacheKeyType],
    kvCacheValueType: GgmlType[types.experimentalKvCacheValueType],
  });
  if (hasDevice) return weights.gpuVram + context.gpuVram;
  return PROCESS_BYTES + weights.cpuRam + context.cpuRam;
}

/** The context that an `Embedder` creates with the first vector. */
async function vectorMemoryOf(model: LlamaModel, { contextLength, hasDevice }: MemoryOptions): Promise<number> {
  const { gpuVram, cpuRam } = await model.fileInsights.estimateContextResourceRequirementsV2({
    ...{ contextSize: contextLength, batchSize: vectorBatch(model, contextLength), isEmbeddingContext: true },
    modelGpuLayers: hasDevice ? model.fileInsights.totalLayers : 0,
  });
  return hasDevice ? gpuVram : cpuRam;
}
