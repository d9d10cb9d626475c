// The options of `verify` about the ledger: what it is held to, and what is remembered of it.
import type { LedgerMemory, LedgerOptions } from '@strata/client';
import { checkpointOfNote } from '@strata/receipts';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { CommandError } from '../../output.ts';
import { ledgerFileMemory } from './ledger-file.ts';
import { readAnswerFile } from './saved-answer.ts';
import { type WitnessOptions, withWitnesses, witnessPolicyOf } from './witness-options.ts';

export interface LedgerCommandOptions extends WitnessOptions {
  /** C2SP verifier key, known from elsewhere. */
  readonly ledgerKey?: string;
  /** File with a checkpoint, known from elsewhere. */
  readonly ledgerCheckpoint?: string;
  readonly forgetLedger?: boolean;
}

/** Adds them to a command; `whose` is the service, such as `service` or `gateway`. */
export function addLedgerOptions(command: Command, whose: string): Command {
  return withWitnesses(command)
    .option(
      '--ledger-key <key>',
      `C2SP verifier key of the ledger, to trust in place of the remembered one and the ${whose}'s own`,
    )
    .option(
      '--ledger-checkpoint <file>',
      'a checkpoint that you know from elsewhere: the ledger must go on from it too (- for standard input)',
    )
    .option('--forget-ledger', 'forget what is remembered of this ledger, and begin with what it shows now');
}

/** What the client takes of them. Throws CommandError (exit code 2) for a file that holds no checkpoint. */
export async function ledgerOptionsOf(
  context: CommandContext,
  { ledgerKey, ledgerCheckpoint: file, forgetLedger: isReset, ...witnesses }: LedgerCommandOptions,
): Promise<LedgerOptions & { readonly memory: LedgerMemory }> {
  const note = file === undefined ? undefined : new TextDecoder().decode(await readAnswerFile(file, context.stdin));
  if (note !== undefined && !checkpointOfNote(note))
    throw new CommandError(`'${file}' holds no checkpoint of a ledger`, { exitCode: 2 });
  const trust = { ledgerKey, ledgerCheckpoint: note, ...witnessPolicyOf(witnesses) };
  return { ...trust, isReset, memory: ledgerFileMemory(context) };
}
