// `strata stack verify`: does a receipt hold, and what does it say? Each way to fail has a sentence and an exit code.
import {
  type AnswerProblem,
  type Conflict,
  type VerifiedAnswer,
  verifyBody,
  verifyDetached,
  verifyUrl,
} from '@strata/client';
import type { CommandContext, OutputStream } from '../../context.ts';
import { CommandError, type OutputOptions, printJson } from '../../output.ts';
import { refuseCredentials, serviceBase, serviceKey } from '../../service-address.ts';
import { ledgerFileOf } from './ledger-file.ts';
import { type LedgerCommandOptions, ledgerOptionsOf } from './ledger-options.ts';
import { parseSavedHeaders, readAnswerFile } from './saved-answer.ts';

export interface VerifyOptions extends OutputOptions, LedgerCommandOptions {
  readonly key?: string;
  /** The service that gave a saved answer. */
  readonly base: string;
  /** File with the headers of a saved CSV answer, or with its `Stack-Provenance`. */
  readonly provenance?: string;
}

/** As the command's help tells them. */
export const EXIT = { doesNotHold: 1, wrongUse: 2, isProblem: 3, notFetched: 4, otherLedger: 5 } as const;

/** What the service calls its CSV; used where only the receipt was saved. */
const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export async function verifyCommand(context: CommandContext, target: string, options: VerifyOptions): Promise<void> {
  const isUrl = /^https?:\/\//i.test(target);
  const result = await (isUrl ? verifyFetched : verifySaved)(context, target, options);
  printSteps(context, result, options);
  judge(target, { result, isUrl, ledgerFile: ledgerFileOf(context) });
}

/** What was checked, step by step. */
export function printSteps({ stdout }: CommandContext, result: VerifiedAnswer, { json }: OutputOptions): void {
  const { answer: _answer, ...verification } = result;
  if (json) printJson(stdout, verification);
  // Where the check never began, a line about a step would say less than the reason does.
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
  if (provenance !== undefined) throw wrongUse('--provenance belongs to a saved answer; a URL brings its own headers');
  refuseCredentials(url, '--key or STRATA_KEY');
  const known = serviceKey(key);
  return verifyUrl(url, {
    ...(await ledgerOptionsOf(context, options)),
    ...(known === undefined ? {} : { key: known }),
  });
}

async function verifySaved(context: CommandContext, file: string, options: VerifyOptions): Promise<VerifiedAnswer> {
  const { stdin } = context;
  const baseUrl = serviceBase(options.base);
  const files = [file, options.provenance, options.ledgerCheckpoint];
  if (files.filter((each) => each === '-').length > 1) throw wrongUse('standard input cannot be both files');
  const against = { ...(await ledgerOptionsOf(context, options)), baseUrl };
  const content = await readAnswerFile(file, stdin);
  if (options.provenance === undefined) return verifyBody(content, against);
  const text = new TextDecoder().decode(await readAnswerFile(options.provenance, stdin));
  const { provenance, contentType = CSV_TYPE } = parseSavedHeaders(text, options.provenance);
  // A refusal saved in place of the CSV is JSON, with its receipt inside.
  if (provenance === undefined) return verifyBody(content, against);
  return verifyDetached({ content, contentType, provenance }, against);
}

interface Judged {
  readonly result: VerifiedAnswer;
  readonly isUrl: boolean;
  /** Where ledgers are remembered. */
  readonly ledgerFile: string;
}

/** Throws for everything but a good answer whose receipt holds. */
export function judge(target: string, { result, isUrl, ledgerFile }: Judged): void {
  const { ok, problem, unchecked, failedStep, conflict } = result;
  if (conflict) throw new CommandError(conflictText(conflict, ledgerFile), { exitCode: EXIT.otherLedger });
  if (ok && problem) {
    throw new CommandError(`the receipt holds, but the answer is an error: ${told(problem)}`, {
      exitCode: EXIT.isProblem,
    });
  }
  if (ok) return;
  if (!unchecked) {
    throw new CommandError(`the receipt does not hold: step '${failedStep}' failed`, { exitCode: EXIT.doesNotHold });
  }
  switch (unchecked.kind) {
    case 'not-fetched': {
      const hint = isUrl ? '' : ' --base names the service that gave the answer.';
      throw new CommandError(`not verified: ${unchecked.detail}${hint}`, { exitCode: EXIT.notFetched });
    }
    case 'not-json': {
      if (!isUrl) {
        throw wrongUse(`'${target}' is not a JSON answer; for CSV give its headers too: --provenance headers.txt`);
      }
      const status = problem ? ` (status ${problem.status})` : '';
      throw new CommandError(`the answer${status} is not JSON and has no receipt: is this a Strata service?`);
    }
    case 'no-receipt': {
      const status = problem ? ` The answer is an error: ${told(problem)}` : '';
      throw new CommandError(`there is no receipt to verify: ${unchecked.detail}${status}`);
    }
    default:
      unchecked.kind satisfies never;
  }
}

function conflictText({ kind }: Conflict, file: string): string {
  if (kind === 'unreadable')
    return `the ledger cannot be compared with what is remembered of it or was given: repair ${file}, or start over with --forget-ledger`;
  const restore =
    kind === 'rollback'
      ? ' Was the service restored from an old backup? Its operator brings back the newest copy of the ledger, or begins one of a new name ("Restore" in docs/operations.md).'
      : '';
  return `the ledger is not the one that is known (${kind}): do not rely on this answer.${restore} Nothing was changed in ${file}; --json prints both checkpoints as evidence. Once the operator has explained it, --forget-ledger starts over`;
}

function told({ status, code, detail }: AnswerProblem): string {
  const start = [status, code].filter((part) => part !== undefined).join(' ');
  return detail === undefined ? start : `${start}: ${detail}`;
}

export function wrongUse(message: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.wrongUse });
}
