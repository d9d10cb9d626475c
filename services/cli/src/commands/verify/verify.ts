// `strata stack verify`: verifies a receipt. Each kind of failure has a message and an exit code.
import {
  type AnswerProblem,
  type Conflict,
  type VerifiedAnswer,
  verifyBody,
  verifyDetached,
  verifyUrl,
} from '@strata/client';
import { hashFile } from '@strata/files';
import type { CommandContext, OutputStream } from '../../context.ts';
import { CommandError, fileError, usageError } from '../../errors.ts';
import { type OutputOptions, printJson } from '../../output.ts';
import { checkedKey, refuseCredentials, stackBase } from '../../service-address.ts';
import { ledgerFileOf } from './ledger-file.ts';
import { type LedgerCommandOptions, ledgerOptionsOf } from './ledger-options.ts';
import { parseSavedHeaders, readAnswerFile } from './saved-answer.ts';

export interface VerifyOptions extends OutputOptions, LedgerCommandOptions {
  readonly key?: string;
  /** URL of the service that sent a saved answer. */
  readonly base: string;
  /** File with the headers of a saved CSV answer, or with its `Stack-Provenance`. */
  readonly provenance?: string;
}

/** Exit codes, as in the help of the command; 2 is a usage error. */
export const EXIT = { invalid: 1, errorAnswer: 3, notFetched: 4, conflict: 5 } as const;

/** The content type of the service's CSV; used where only the receipt was saved. */
const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export async function verifyCommand(context: CommandContext, target: string, options: VerifyOptions): Promise<void> {
  const isUrl = /^https?:\/\//i.test(target);
  const result = await (isUrl ? verifyFetched : verifySaved)(context, target, options);
  printSteps(context, result, options);
  checkOutcome(target, { result, isUrl, ledgerFile: ledgerFileOf(context) });
}

export function printSteps({ stdout }: CommandContext, result: VerifiedAnswer, { json }: OutputOptions): void {
  const { answer: _answer, ...verification } = result;
  if (json) printJson(stdout, verification);
  // Where the verification could not start, the error message is more useful than a failed step.
  else if (result.steps.length > 1 || !result.unchecked) {
    for (const { step, ok, detail } of result.steps) printStep(stdout, { ok, step, detail });
  }
}

interface Step {
  readonly step: string;
  readonly ok: boolean;
  readonly detail: string;
}

export function printStep(stdout: OutputStream, { ok, step, detail }: Step): void {
  stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${step.padEnd(10)} ${detail}\n`);
}

async function verifyFetched(context: CommandContext, url: string, options: VerifyOptions): Promise<VerifiedAnswer> {
  const { key, provenance } = options;
  if (provenance !== undefined) throw usageError('--provenance is for a saved answer; a URL has its own headers');
  refuseCredentials(url, '--key or STRATA_KEY');
  const checked = checkedKey(key, '--key, STRATA_KEY');
  return verifyUrl(url, {
    ...(await ledgerOptionsOf(context, options)),
    ...(checked === undefined ? {} : { key: checked }),
  });
}

async function verifySaved(context: CommandContext, file: string, options: VerifyOptions): Promise<VerifiedAnswer> {
  const { stdin } = context;
  const baseUrl = stackBase(options.base);
  const files = [file, options.provenance, options.ledgerCheckpoint];
  if (files.filter((each) => each === '-').length > 1) throw usageError('only one file can be standard input');
  const against = { ...(await ledgerOptionsOf(context, options)), baseUrl };
  if (options.provenance === undefined) return verifyBody(await readAnswerFile(file, stdin), against);
  const text = new TextDecoder().decode(await readAnswerFile(options.provenance, stdin));
  const { provenance, contentType = CSV_TYPE } = parseSavedHeaders(text, options.provenance);
  // An error that was saved instead of the CSV is JSON and contains its receipt.
  if (provenance === undefined) return verifyBody(await readAnswerFile(file, stdin), against);
  const content =
    file === '-'
      ? await readAnswerFile(file, stdin)
      : // An export may be larger than the memory.
        {
          sha256: Buffer.from(
            await hashFile(file).catch((cause: unknown) => Promise.reject(fileError(file, cause))),
            'hex',
          ),
        };
  return verifyDetached({ content, contentType, provenance }, against);
}

interface Outcome {
  readonly result: VerifiedAnswer;
  readonly isUrl: boolean;
  /** The file with the known ledgers. */
  readonly ledgerFile: string;
}

/** Throws CommandError unless the receipt is valid and the answer is not an error. */
export function checkOutcome(target: string, { result, isUrl, ledgerFile }: Outcome): void {
  const { ok, problem, unchecked, failedStep, conflict } = result;
  if (conflict) throw new CommandError(conflictText(conflict, ledgerFile), { exitCode: EXIT.conflict });
  if (ok && problem) {
    throw new CommandError(`the receipt is valid, but the answer is an error: ${problemText(problem)}`, {
      exitCode: EXIT.errorAnswer,
    });
  }
  if (ok) return;
  if (!unchecked)
    throw new CommandError(`the receipt is not valid: step '${failedStep}' failed`, { exitCode: EXIT.invalid });
  switch (unchecked.kind) {
    case 'not-fetched': {
      const hint = isUrl ? '' : ' Set --base to the URL of the service that sent the answer.';
      throw new CommandError(`not verified: ${unchecked.detail}${hint}`, { exitCode: EXIT.notFetched });
    }
    case 'not-json': {
      if (!isUrl)
        throw usageError(`'${target}' is not a JSON answer; for CSV, pass its headers with --provenance headers.txt`);
      const status = problem ? ` (status ${problem.status})` : '';
      throw new CommandError(`the answer${status} is not JSON and has no receipt; is this a Strata service?`);
    }
    case 'no-receipt': {
      const status = problem ? ` The answer is an error: ${problemText(problem)}` : '';
      throw new CommandError(`no receipt to verify: ${unchecked.detail}${status}`);
    }
    default:
      unchecked.kind satisfies never;
  }
}

function conflictText({ kind }: Conflict, file: string): string {
  if (kind === 'unreadable')
    return `the ledger cannot be compared with the known checkpoint: repair ${file}, or start over with --forget-ledger`;
  const restore =
    kind === 'rollback'
      ? ' The service may have been restored from an old backup; its operator must restore the newest copy of the ledger, or start one with a new name ("Restore" in docs/operations.md).'
      : '';
  return `the ledger conflicts with the known one (${kind}); do not rely on this answer.${restore} ${file} is unchanged; --json prints both checkpoints as evidence. Once the operator has explained the conflict, --forget-ledger starts over`;
}

function problemText({ status, code, detail }: AnswerProblem): string {
  const start = [status, code].filter((part) => part !== undefined).join(' ');
  return detail === undefined ? start : `${start}: ${detail}`;
}
