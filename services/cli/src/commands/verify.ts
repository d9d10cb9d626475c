// `strata stack verify`: does a receipt hold? Says which step failed; exit code 1 when one did.
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { verifyBody, verifyUrl } from '@strata/client';
import { CommandError, type OutputOptions, printJson } from '../output.ts';

export interface VerifyOptions extends OutputOptions {
  readonly key?: string;
  /** The service that gave a saved answer. */
  readonly base: string;
  /** C2SP verifier key of the ledger, known from elsewhere. */
  readonly ledgerKey?: string;
}

export async function verifyCommand(target: string, options: VerifyOptions): Promise<void> {
  const trust = options.ledgerKey === undefined ? {} : { ledgerKey: options.ledgerKey };
  const isUrl = /^https?:\/\//i.test(target);
  const result = isUrl
    ? await verifyUrl(target, { ...trust, ...(options.key === undefined ? {} : { key: options.key }) })
    : await verifyBody(await contentOf(target), { ...trust, baseUrl: options.base });

  const { answer: _answer, ...verification } = result;
  if (options.json) printJson(verification);
  else
    for (const { step, ok, detail } of result.steps)
      process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${step.padEnd(10)} ${detail}\n`);
  if (!result.ok) throw new CommandError(`the receipt does not hold: step '${result.failedStep}' failed`);
}

async function contentOf(file: string): Promise<Uint8Array> {
  try {
    return file === '-' ? await buffer(process.stdin) : await readFile(file);
  } catch (cause) {
    throw new CommandError(`'${file}' is neither a URL nor a file that can be read`, { exitCode: 2, cause });
  }
}
