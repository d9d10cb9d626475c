// The description of a model by its file's metadata, with or without its weights loaded.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { GgufFileType, type LlamaModel } from 'node-llama-cpp';
import type { ModelInfo } from '../engine.ts';

export interface ModelFacts {
  readonly file: string;
  /** Hex SHA-256 of the file. */
  readonly sha256: string;
  readonly contextLength: number;
  readonly slots: number;
}

export async function modelInfo(model: LlamaModel, facts: ModelFacts): Promise<ModelInfo> {
  const { file, sha256, contextLength, slots } = facts;
  const { gpu, llamaCppRelease } = model.llama;
  const { general, tokenizer } = model.fileInfo.metadata;
  const tokens = tokenizer.ggml.tokens ?? [];
  const { size } = await stat(file);
  return {
    name: general.name ?? path.basename(file, '.gguf'),
    sha256,
    sizeBytes: size,
    architecture: general.architecture,
    parameters: parametersOf(model),
    quantisation: quantisationOf(model),
    contextLength,
    vocabularySize: tokens.length,
    longestToken: tokens.reduce((max, text) => Math.max(max, Buffer.byteLength(text)), 1),
    slots,
    hasChatTemplate: tokenizer.chat_template !== undefined,
    engine: `llama.cpp ${llamaCppRelease.release}${gpu === false ? '' : ` ${gpu}`}`,
  };
}

function parametersOf(model: LlamaModel): number {
  const tensors = model.fileInfo.tensorInfo ?? [];
  return tensors.reduce(
    (sum, { dimensions }) => sum + dimensions.reduce<number>((all, each) => all * Number(each), 1),
    0,
  );
}

/** As in the file: `Q4_K_M`. */
function quantisationOf(model: LlamaModel): string {
  const type = model.fileInfo.metadata.general.file_type;
  return type === undefined ? 'unknown' : (GgufFileType[type] ?? 'unknown').replace(/^(MOSTLY|ALL)_/, '');
}
