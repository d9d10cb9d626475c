// `strata stack export`: a complete table of a service as a file; an interrupted download is resumed.
import { setTimeout as delay } from 'node:timers/promises';
import { StackProblem, StackTables, type TableFormat } from '@strata/client';
import { DiskError, downloadFile } from '@strata/files';
import type { CommandContext } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';
import { refused, type ServiceOptions, serviceOf } from '../records/service-client.ts';

export interface ExportCommandOptions extends ServiceOptions {
  readonly format: TableFormat;
  readonly fields?: string;
  readonly filter: readonly string[];
  readonly output?: string;
}

/** Connections that may break one after another without a new byte. */
const MAX_CUTS = 5;
const PAUSE_MS = 1_000;

export async function exportCommand(
  { stderr }: CommandContext,
  table: string,
  { format, fields, filter, output, ...service }: ExportCommandOptions,
): Promise<void> {
  const { baseUrl, key } = serviceOf(service);
  const file = output ?? `${table}.${format}`;
  const query = new URLSearchParams([...filter.map(pairOf), ['format', format]]);
  if (fields !== undefined) query.set('fields', fields);
  const path = `/stack/v1/exports/${encodeURIComponent(table)}?${query}`;
  const tables = new StackTables({ baseUrl, key });
  // The validator of the file makes sure that a resumed download continues the same file.
  const request: Parameters<typeof downloadFile<never>>[1]['request'] = async (range, read) => {
    const answer = await written(tables, path, range(), (text) => stderr.write(`${text}\n`));
    return read({ ...answer, headers: Object.fromEntries(answer.headers) });
  };
  for (let cuts = 0; ; cuts += 1) {
    const outcome = await downloadFile<never>(file, { source: new URL(path, baseUrl).href, request }).catch(failed);
    if (outcome.kind === 'complete') {
      stderr.write(`${file}: ${outcome.sizeBytes} bytes\n`);
      return;
    }
    if (outcome.kind !== 'cut') throw new CommandError(`${file}: ${'detail' in outcome ? outcome.detail : 'no file'}`);
    if (cuts === MAX_CUTS) throw new CommandError(`${file}: ${outcome.detail}; the same command resumes it`);
    await delay(PAUSE_MS);
  }
}

/** The answer when the service has written the file. */
async function written(
  tables: StackTables,
  path: string,
  headers: Record<string, string>,
  log: (text: string) => void,
) {
  for (;;) {
    try {
      return await tables.file(path, { headers });
    } catch (error) {
      if (!(error instanceof StackProblem) || error.status !== 503 || error.retryAfterSeconds === null) throw error;
      log(error.detail);
      await delay(error.retryAfterSeconds * 1_000);
    }
  }
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at <= 0) throw usageError(`--filter ${text}: write NAME=VALUE, such as provider=cloudflare`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function failed(cause: unknown): never {
  if (cause instanceof DiskError) throw new CommandError(cause.message, { cause });
  return refused(cause);
}
