// `strata inference models`: the models of a gateway, and model files of this machine.
import {
  listModels as listStored,
  type ModelStoreOptions,
  openFileTree,
  resolveModel,
  startLlamaEngine,
} from '@strata/engine';
import type { CommandContext } from '../../context.ts';
import { runInterruptible } from '../../interruption.ts';
import { type OutputOptions, printJson, printTable } from '../../output.ts';
import { formatSeconds, rateSince, startStatusLine } from '../../progress.ts';
import { type ChatOptions, fetchModels } from './chat.ts';

export async function listModels({ stdout }: CommandContext, options: ChatOptions & OutputOptions): Promise<void> {
  const data = await fetchModels(options);
  if (options.json) return printJson(stdout, data);
  const rows = data.map(({ id, parameters, quantisation, context_length, loaded, unavailable }) => [
    id,
    sizeText(parameters),
    quantisation ?? '',
    String(context_length ?? ''),
    // Earlier gateways do not say why.
    unavailable ?? (loaded === false ? 'not loaded' : ''),
  ]);
  printTable(stdout, ['model', 'parameters', 'weights', 'context', 'state'], rows);
}

/** Complete and partial downloads of this machine. */
export async function listLocalModels(
  { stdout }: CommandContext,
  { dir }: Store,
  options: OutputOptions,
): Promise<void> {
  const stored = await listStored(dir);
  if (options.json) return printJson(stdout, stored);
  if (stored.length === 0) {
    stdout.write(`no models in ${dir}; download one with \`strata inference models pull hf:owner/repository\`\n`);
    return;
  }
  const rows = stored.map((model) => [
    model.reference,
    model.kind === 'complete'
      ? bytesText(model.sizeBytes)
      : `${bytesText(model.receivedBytes)} of ${bytesText(model.sizeBytes)}`,
    model.kind,
  ]);
  printTable(stdout, ['model', 'size', 'state'], rows);
}

type Store = Pick<ModelStoreOptions, 'dir' | 'endpoint' | 'token'>;

/** Downloads a model unless it is complete already. After Ctrl-C, the next pull resumes the download. */
export async function pullModel(
  context: CommandContext,
  reference: string,
  store: Store,
  options: OutputOptions,
): Promise<void> {
  const { stdout, stderr } = context;
  const found = await resolved(context, reference, store);
  if (options.json) return printJson(stdout, found);
  stdout.write(`${found.path}\n`);
  const state = found.isDownloaded ? 'downloaded' : 'already downloaded';
  stderr.write(
    `${state} (${bytesText(found.sizeBytes)}); to serve it: strata inference gateway --model ${reference}\n`,
  );
}

async function resolved(context: CommandContext, reference: string, store: Store) {
  const startedAt = performance.now();
  let firstBytes: number | undefined;
  let latest: DownloadProgress | undefined;
  const status = startStatusLine(
    context.stderr,
    () => latest && downloadText(latest, rateSince(startedAt, latest.receivedBytes - (firstBytes ?? 0))),
  );
  const interruption = { state: 'run the command again to resume the download', names: ['SIGINT'] } as const;
  try {
    return await runInterruptible(context, interruption, (signal) =>
      resolveModel(
        reference,
        { ...store, signal },
        {
          onProgress: (progress) => {
            firstBytes ??= progress.receivedBytes;
            latest = progress;
          },
          onRetry: ({ reason, pauseMs }) =>
            status.print(`${reason}; retrying in ${formatSeconds(Math.ceil(pauseMs / 1_000))}`),
        },
      ),
    );
  } finally {
    status.stop();
  }
}

interface DownloadProgress {
  readonly file: string;
  readonly receivedBytes: number;
  readonly totalBytes: number | undefined;
}

function downloadText({ file, receivedBytes, totalBytes }: DownloadProgress, rate: number): string {
  const received = `${file}: ${bytesText(receivedBytes)}`;
  if (totalBytes === undefined) return `${received}, ${bytesText(rate)}/s`;
  const percent = Math.floor((receivedBytes / Math.max(1, totalBytes)) * 100);
  const left = rate === 0 ? '' : `, ${formatSeconds((totalBytes - receivedBytes) / rate)} left`;
  return `${received} of ${bytesText(totalBytes)} (${percent} %), ${bytesText(rate)}/s${left}`;
}

function bytesText(bytes: number | undefined): string {
  if (bytes === undefined) return 'unknown size';
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/** `reference` is a path, or an hf: reference, which is downloaded if necessary. */
export async function inspectModel(
  context: CommandContext,
  reference: string,
  store: Store,
  options: OutputOptions,
): Promise<void> {
  const { stdout } = context;
  const file = /^hf:/.test(reference) ? (await resolved(context, reference, store)).path : reference;
  await using engine = await startLlamaEngine({ file, slots: 1, threads: 1, gpu: false });
  const { digest: treeSha256 } = await openFileTree(file);
  const info = { ...engine.info, treeSha256 };
  if (options.json) return printJson(stdout, info);
  printTable(
    stdout,
    ['property', 'value'],
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
      ['tree', info.treeSha256],
      ['engine', info.engine],
    ],
  );
}

function sizeText(parameters: number | null | undefined): string {
  if (parameters === undefined || parameters === null) return '';
  return parameters >= 1e9 ? `${(parameters / 1e9).toFixed(1)} B` : `${(parameters / 1e6).toFixed(1)} M`;
}
