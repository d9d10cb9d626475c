// `strata inference models`: what a gateway serves, and what a file holds.
import { startLlamaEngine } from '@strata/engine';
import { type OutputOptions, printJson, printTable } from '../output.ts';
import { askGateway, type ChatOptions } from './chat.ts';

interface ListedModel {
  readonly id: string;
  readonly parameters?: number;
  readonly quantisation?: string;
  readonly context_length?: number;
}

export async function listModels(options: ChatOptions & OutputOptions): Promise<void> {
  const { data } = (await (await askGateway('/v1/models', options)).json()) as {
    readonly data: readonly ListedModel[];
  };
  if (options.json) return printJson(data);
  const rows = data.map(({ id, parameters, quantisation, context_length }) => [
    id,
    sizeText(parameters),
    quantisation ?? '',
    String(context_length ?? ''),
  ]);
  printTable(['model', 'parameters', 'weights', 'context'], rows);
}

export async function inspectModel(file: string, options: OutputOptions): Promise<void> {
  await using engine = await startLlamaEngine({ file, slots: 1, threads: 1, gpu: false });
  const { info } = engine;
  if (options.json) return printJson(info);
  printTable(
    ['what', 'value'],
    [
      ['name', info.name],
      ['architecture', info.architecture],
      ['parameters', sizeText(info.parameters)],
      ['weights', info.quantisation],
      ['context', `${info.contextLength} tokens`],
      ['vocabulary', `${info.vocabularySize} tokens`],
      ['chat template', info.hasChatTemplate ? 'yes' : 'no'],
      ['bytes', String(info.sizeBytes)],
      ['sha256', info.sha256],
      ['engine', info.engine],
    ],
  );
}

function sizeText(parameters: number | undefined): string {
  if (parameters === undefined) return '';
  return parameters >= 1e9 ? `${(parameters / 1e9).toFixed(1)} B` : `${(parameters / 1e6).toFixed(1)} M`;
}
