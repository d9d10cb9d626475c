// `strata inference verify`: does the receipt of an answer hold, and is it the receipt of this request and this answer?
import { type VerifiedAnswer, verifyBody, verifyUrl } from '@strata/client';
import { readAnswerContent } from '@strata/inference';
import { canonicalize, encodeHex, parseSalt, saltedDigest, sha256 } from '@strata/receipts';
import type { CommandContext } from '../../context.ts';
import { bearer, gatewayBase } from '../../gateway-address.ts';
import { CommandError, type OutputOptions } from '../../output.ts';
import { ledgerFileOf } from './ledger-file.ts';
import { type LedgerCommandOptions, ledgerOptionsOf } from './ledger-options.ts';
import { readAnswerFile } from './saved-answer.ts';
import { EXIT, judge, printStep, printSteps, wrongUse } from './verify.ts';

export interface VerifyReceiptOptions extends OutputOptions, LedgerCommandOptions {
  readonly key?: string;
  /** The gateway that gave the receipt. */
  readonly base: string;
  /** Hex, as `x-receipt-salt` said. */
  readonly salt?: string;
  /** File with the body of the request, as it was sent. */
  readonly request?: string;
  /** File with the answer: its body, or the text of its stream. */
  readonly answer?: string;
}

/** In place of `ok     worker    `: nothing is checked here. */
const TOLD = '-      worker    ';
/** Base58: a gateway can put nothing else on the terminal by it. */
const PEER_ID = /^[1-9A-HJ-NP-Za-km-z]{1,128}$/;
const RECEIPT_ID = /^rwr_[0-9A-HJKMNP-TV-Z]{26}$/;

/** `target`: the id of a receipt (`x-receipt-id`), or a file that holds one. */
export async function verifyReceiptCommand(
  context: CommandContext,
  target: string,
  options: VerifyReceiptOptions,
): Promise<void> {
  const base = gatewayBase(options.base);
  const salt = options.salt === undefined ? undefined : parseSalt(options.salt);
  if (options.salt !== undefined && !salt) throw wrongUse('--salt is 64 hexadecimal digits, as x-receipt-salt said');
  const isId = RECEIPT_ID.test(target);
  if (!isId && /^rwr_[^./\\]*$/.test(target))
    throw wrongUse(`'${target}' is no id of a receipt: that is rwr_ and 26 letters and digits, as x-receipt-id said`);
  const result = await (isId ? fetched : saved)(context, target, base, options);
  if (result.unchecked?.kind === 'no-receipt') throw noReceipt(target, result);
  printSteps(context, result, options);
  judge(target, { result, isUrl: isId, ledgerFile: ledgerFileOf(context) });
  if (!options.json) printWorkers(context, Object(result.answer));
  await compare(context, 'request', options.request, { result, salt, saidBytes: (_file, content) => content });
  await compare(context, 'answer', options.answer, { result, salt, saidBytes: answerBytes });
}

async function fetched(
  context: CommandContext,
  id: string,
  base: string,
  options: VerifyReceiptOptions,
): Promise<VerifiedAnswer> {
  const { key } = options;
  if (!key) throw wrongUse('whose receipt is it? Give --key or STRATA_INFERENCE_KEY, or a file with the receipt');
  const headers = { authorization: bearer(key) };
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
  /** The bytes of a file that the receipt has the digest of. */
  readonly saidBytes: (file: string, content: Uint8Array) => Uint8Array;
}

/** Whether a file is what the receipt is of. Receipts of before digests had a salt have plain ones. */
async function compare(
  { stdin, stdout }: CommandContext,
  what: 'request' | 'answer',
  file: string | undefined,
  { result, salt, saidBytes }: Compared,
): Promise<void> {
  if (file === undefined) return;
  const { [`${what}_hmac_sha256`]: salted, [`${what}_sha256`]: plain } = Object(result.answer) as Record<
    string,
    unknown
  >;
  const expected = salted ?? plain;
  if (typeof expected !== 'string') throw new CommandError(`the receipt has no digest of its ${what}`);
  if (salted !== undefined && !salt)
    throw wrongUse(`the digests of the receipt have a salt: give --salt, as x-receipt-salt said beside the ${what}`);
  const bytes = saidBytes(file, await readAnswerFile(file, stdin));
  const isSame = (salted !== undefined && salt ? saltedDigest(salt, bytes) : encodeHex(sha256(bytes))) === expected;
  const detail = isSame ? `${file} is what the receipt tells of.` : `${file} is not what the receipt tells of.`;
  printStep(stdout, { ok: isSame, step: what, detail });
  if (!isSame)
    throw new CommandError(
      `the receipt is of another ${what}${salted === undefined ? '' : ', or the salt is another'}`,
      {
        exitCode: EXIT.doesNotHold,
      },
    );
}

function answerBytes(file: string, bytes: Uint8Array): Uint8Array {
  const content = readAnswerContent(new TextDecoder().decode(bytes));
  if (!content) throw wrongUse(`'${file}' holds no answer of this service, whole or streamed`);
  return new TextEncoder().encode(canonicalize(content));
}

/** Which workers made the answer, as the gateway signed it: told, and not checked. Whether each says the same is in the worker's own receipt. */
function printWorkers({ stdout }: CommandContext, { segments }: { readonly segments?: unknown }): void {
  for (const segment of Array.isArray(segments) ? (segments as unknown[]) : []) {
    const { choice, worker, from, to } = Object(segment) as Readonly<Record<string, unknown>>;
    const isTold = [choice, from, to].every(Number.isSafeInteger) && PEER_ID.test(String(worker));
    if (isTold) stdout.write(`${TOLD} choice ${choice}, tokens ${from} to ${to}: ${worker}, told by the gateway\n`);
  }
}

/** What came in its place: a refusal of the gateway, or some other file. */
function noReceipt(target: string, { answer, problem }: VerifiedAnswer): CommandError {
  const { error } = answer as { readonly error?: { readonly message?: unknown } };
  if (typeof error?.message === 'string')
    return new CommandError(`the gateway answered ${problem?.status ?? 'with an error'}: ${error.message}`, {
      exitCode: EXIT.isProblem,
    });
  return wrongUse(
    `'${target}' holds no receipt; for an answer give the id that x-receipt-id said, and the file with --answer`,
  );
}
