// `strata inference verify`: verifies the receipt of an answer, and that it is of a given request and answer.
import { type VerifiedAnswer, verifyBody, verifyUrl } from '@strata/client';
import { readAnswerContent } from '@strata/inference';
import { canonicalize, encodeHex, parseSalt, saltedDigest, sha256 } from '@strata/receipts';
import type { CommandContext } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';

import type { OutputOptions } from '../../output.ts';
import { checkedKey, gatewayBase } from '../../service-address.ts';
import { forTerminal } from '../inference/chat.ts';
import { ledgerFileOf } from './ledger-file.ts';
import { type LedgerCommandOptions, ledgerOptionsOf } from './ledger-options.ts';
import { readAnswerFile } from './saved-answer.ts';
import { checkOutcome, EXIT, printStep, printSteps } from './verify.ts';

export interface VerifyReceiptOptions extends OutputOptions, LedgerCommandOptions {
  readonly key?: string;
  /** URL of the gateway that issued the receipt. */
  readonly base: string;
  /** Hex, from the header `x-receipt-salt`. */
  readonly salt?: string;
  readonly request?: string;
  /** File with the body of the answer, or the text of its stream. */
  readonly answer?: string;
}

/** Instead of `ok     worker    `: what the gateway reports is not verified. */
const unverified = (step: string) => `-      ${step.padEnd(10)}`;
/** Of the model, as `verified` of the receipt says. */
const LEVELS: readonly unknown[] = ['pinned', 'audited', 'claimed'];
const MAX_REASON = 300;
/** Base58, so that a gateway cannot write other characters to the terminal. */
const PEER_ID = /^[1-9A-HJ-NP-Za-km-z]{1,128}$/;
const RECEIPT_ID = /^rwr_[0-9A-HJKMNP-TV-Z]{26}$/;

/** `target` is the id of a receipt (`x-receipt-id`), or a file that contains one. */
export async function verifyReceiptCommand(
  context: CommandContext,
  target: string,
  options: VerifyReceiptOptions,
): Promise<void> {
  const base = gatewayBase(options.base);
  const salt = options.salt === undefined ? undefined : parseSalt(options.salt);
  if (options.salt !== undefined && !salt)
    throw usageError('--salt must be 64 hexadecimal digits, from the header x-receipt-salt');
  const isId = RECEIPT_ID.test(target);
  if (!isId && /^rwr_[^./\\]*$/.test(target))
    throw usageError(`'${target}' is not a receipt id: rwr_ and 26 letters and digits, from the header x-receipt-id`);
  const result = await (isId ? fetched : saved)(context, target, base, options);
  if (result.unchecked?.kind === 'no-receipt') throw noReceipt(target, result);
  printSteps(context, result, options);
  checkOutcome(target, { result, isUrl: isId, ledgerFile: ledgerFileOf(context) });
  if (!options.json) printReported(context, Object(result.answer));
  await compare(context, 'request', options.request, { result, salt, signedBytes: (_file, content) => content });
  await compare(context, 'answer', options.answer, { result, salt, signedBytes: answerBytes });
}

async function fetched(
  context: CommandContext,
  id: string,
  base: string,
  options: VerifyReceiptOptions,
): Promise<VerifiedAnswer> {
  const key = checkedKey(options.key, '--key, STRATA_INFERENCE_KEY');
  if (key === undefined)
    throw usageError('no API key; set --key or STRATA_INFERENCE_KEY, or pass a file with the receipt');
  const headers = { authorization: `Bearer ${key}` };
  return verifyUrl(`${base}/v1/receipts/${id}`, { headers, ...(await ledgerOptionsOf(context, options)) });
}

async function saved(
  context: CommandContext,
  file: string,
  baseUrl: string,
  options: VerifyReceiptOptions,
): Promise<VerifiedAnswer> {
  const content = await readAnswerFile(file, context.stdin);
  return verifyBody(content, { baseUrl, ...(await ledgerOptionsOf(context, options)) });
}

interface Compared {
  readonly result: VerifiedAnswer;
  readonly salt: Uint8Array | undefined;
  /** The bytes of a file whose digest is in the receipt. */
  readonly signedBytes: (file: string, content: Uint8Array) => Uint8Array;
}

/** Compares a file with the digest in the receipt. Earlier receipts have digests without a salt. */
async function compare(
  { stdin, stdout }: CommandContext,
  what: 'request' | 'answer',
  file: string | undefined,
  { result, salt, signedBytes }: Compared,
): Promise<void> {
  if (file === undefined) return;
  const { [`${what}_hmac_sha256`]: salted, [`${what}_sha256`]: plain } = Object(result.answer) as Record<
    string,
    unknown
  >;
  const expected = salted ?? plain;
  if (typeof expected !== 'string') throw new CommandError(`the receipt has no digest of the ${what}`);
  if (salted !== undefined && !salt)
    throw usageError('the digests of the receipt are salted; set --salt to the value of the header x-receipt-salt');
  const bytes = signedBytes(file, await readAnswerFile(file, stdin));
  const isSame = (salted !== undefined && salt ? saltedDigest(salt, bytes) : encodeHex(sha256(bytes))) === expected;
  const detail = `${file} ${isSame ? 'matches' : 'does not match'} the receipt.`;
  printStep(stdout, { ok: isSame, step: what, detail });
  if (!isSame)
    throw new CommandError(`the receipt is of another ${what}${salted === undefined ? '' : ', or the salt is wrong'}`, {
      exitCode: EXIT.invalid,
    });
}

function answerBytes(file: string, bytes: Uint8Array): Uint8Array {
  const content = readAnswerContent(new TextDecoder().decode(bytes));
  if (!content) throw usageError(`'${file}' is not an answer of the gateway, complete or streamed`);
  return new TextEncoder().encode(canonicalize(content));
}

/** Model and workers as the gateway reported them. They are not verified: the proof of a worker is its own receipt. */
function printReported(
  { stdout }: CommandContext,
  { model, segments }: { readonly model?: unknown; readonly segments?: unknown },
): void {
  const report = (step: string, text: string) => stdout.write(`${unverified(step)} ${text}, reported by the gateway\n`);
  const { level, reason } = Object(Object(model).verified) as Readonly<Record<string, unknown>>;
  if (LEVELS.includes(level)) report('model', `${level} (${forTerminal(String(reason)).slice(0, MAX_REASON)})`);
  for (const segment of Array.isArray(segments) ? (segments as unknown[]) : []) {
    const { choice, worker, from, to } = Object(segment) as Readonly<Record<string, unknown>>;
    const isValid = [choice, from, to].every(Number.isSafeInteger) && PEER_ID.test(String(worker));
    if (isValid) report('worker', `choice ${choice}, tokens ${from} to ${to}: ${worker}`);
  }
}

/** The error for a response or file that is not a receipt. */
function noReceipt(target: string, { answer, problem }: VerifiedAnswer): CommandError {
  const { error } = answer as { readonly error?: { readonly message?: unknown } };
  if (typeof error?.message === 'string')
    return new CommandError(`the gateway returned ${problem?.status ?? 'an error'}: ${error.message}`, {
      exitCode: EXIT.errorAnswer,
    });
  return usageError(
    `'${target}' contains no receipt; to check an answer, pass its receipt id (header x-receipt-id) and --answer ${target}`,
  );
}
