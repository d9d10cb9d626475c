// `strata inference models`: what a gateway serves, and what a file holds.
import { listModels as listStored, type ModelStoreOptions, resolveModel, startLlamaEngine } from '@strata/engine';
import type { CommandContext, OutputStream } from '../../context.ts';
import { CommandError, type OutputOptions, printJson, printTable } from '../../output.ts';
import { formatSeconds } from '../../progress.ts';
import { askModels, type ChatOptions } from './chat.ts';

export async function listModels({ stdout }: CommandContext, options: ChatOptions & OutputOptions): Promise<void> {
  const data = await askModels(options);
  if (options.json) return printJson(stdout, data);
  const rows = data.map(({ id, parameters, quantisation, context_length }) => [
    id,
    sizeText(parameters),
    quantisation ?? '',
    String(context_length ?? ''),
  ]);
  printTable(stdout, ['model', 'parameters', 'weights', 'context'], rows);
}

/** What was downloaded to this machine, half or whole. */
export async function listLocalModels(
  { stdout }: CommandContext,
  { dir }: Store,
  options: OutputOptions,
): Promise<void> {
  const stored = await listStored(dir);
  if (options.json) return printJson(stdout, stored);
  if (stored.length === 0) {
    stdout.write(`no models in ${dir} yet; \`models pull hf:owner/repository\` downloads one\n`);
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

/** Downloads a model, or finds that it is there; Ctrl-C leaves what has come, and the next pull goes on from it. */
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
  const how = found.isDownloaded ? 'downloaded' : 'was here already';
  stderr.write(`${bytesText(found.sizeBytes)} ${how}; serve it: strata inference gateway --model ${reference}\n`);
}

async function resolved(context: CommandContext, reference: string, store: Store) {
  const leaving = new AbortController();
  const interrupted = new CommandError('interrupted; the next pull goes on from here', { exitCode: 130 });
  const leave = () => leaving.abort(interrupted);
  context.once('SIGINT', leave);
  const progress = downloadProgress(context.stderr);
  try {
    return await resolveModel(
      reference,
      { ...store, signal: leaving.signal },
      {
        onProgress: progress.show,
        onRetry: ({ reason, pauseMs }) =>
          progress.say(`${reason}; trying again in ${formatSeconds(Math.ceil(pauseMs / 1_000))}`),
      },
    );
  } finally {
    progress.stop();
    context.off('SIGINT', leave);
  }
}

const TELL_MS = 5_000;

/** One line that is written over on a terminal, and a line now and then elsewhere. */
function downloadProgress(stream: OutputStream) {
  const startedAt = performance.now();
  let toldAt = Number.NEGATIVE_INFINITY;
  let firstBytes: number | undefined;
  const end = () => (stream.isTTY && toldAt > 0 ? stream.write('\n') : undefined);
  return {
    show({ file, receivedBytes, totalBytes }: { file: string; receivedBytes: number; totalBytes: number | undefined }) {
      firstBytes ??= receivedBytes;
      if (!stream.isTTY && performance.now() - toldAt < TELL_MS) return;
      toldAt = performance.now();
      const rate = (receivedBytes - firstBytes) / Math.max(0.001, (toldAt - startedAt) / 1_000);
      const left =
        totalBytes === undefined || rate === 0 ? '' : `, ${formatSeconds((totalBytes - receivedBytes) / rate)} left`;
      const of =
        totalBytes === undefined
          ? ''
          : ` of ${bytesText(totalBytes)} (${Math.floor((receivedBytes / Math.max(1, totalBytes)) * 100)} %)`;
      const line = `${file}: ${bytesText(receivedBytes)}${of}, ${bytesText(rate)}/s${left}`;
      stream.write(stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    },
    say(text: string) {
      end();
      stream.write(`${text}\n`);
    },
    stop: () => void end(),
  };
}

function bytesText(bytes: number | undefined): string {
  if (bytes === undefined) return 'unknown size';
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/** `file`: a path, or a reference to what may be here. */
export async function inspectModel(
  context: CommandContext,
  reference: string,
  store: Store,
  options: OutputOptions,
): Promise<void> {
  const { stdout } = context;
  const file = /^hf:/.test(reference) ? (await resolved(context, reference, store)).path : reference;
  await using engine = await startLlamaEngine({ file, slots: 1, threads: 1, gpu: false });
  const { info } = engine;
  if (options.json) return printJson(stdout, info);
  printTable(
    stdout,
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

function sizeText(parameters: number | null | undefined): string {
  if (parameters === undefined || parameters === null) return '';
  return parameters >= 1e9 ? `${(parameters / 1e9).toFixed(1)} B` : `${(parameters / 1e6).toFixed(1)} M`;
}
