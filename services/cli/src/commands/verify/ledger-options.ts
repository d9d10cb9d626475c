// The ledger options of the `verify` commands, and the witness policy.
import type { LedgerMemory, LedgerOptions } from '@strata/client';
import { checkpointOfNote, readWitnessPolicy, type WitnessPolicyText } from '@strata/receipts';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { integerBetween } from '../../option-parsers.ts';
import { ledgerFileMemory } from './ledger-file.ts';
import { readAnswerFile } from './saved-answer.ts';

export interface LedgerCommandOptions {
  readonly witness?: readonly string[];
  readonly witnessesRequired?: number;
  /** C2SP verifier key from a trusted source. */
  readonly ledgerKey?: string;
  /** File with a checkpoint from a trusted source. */
  readonly ledgerCheckpoint?: string;
  readonly forgetLedger?: boolean;
}

export const LEDGER_MEMORY_HELP = `
The key and latest checkpoint of a ledger are stored in strata/ledgers.json below XDG_STATE_HOME (~/.local/state). From then on,
the ledger must prove that it extends that checkpoint, under the same key or one that this key vouches for.
`;

/** Adds the options to a command; `service` is `service` or `gateway`. */
export function addLedgerOptions(command: Command, service: string): Command {
  return command
    .option('--witness <key...>', 'C2SP verifier keys of witnesses that must have cosigned the checkpoint')
    .option(
      '--witnesses-required <number>',
      'how many of them must have cosigned it (default: all)',
      integerBetween(1, 1_000),
    )
    .option(
      '--ledger-key <key>',
      `C2SP verifier key of the ledger, instead of the stored one and the one that the ${service} publishes`,
    )
    .option(
      '--ledger-checkpoint <file>',
      'a checkpoint from a trusted source, which the ledger must extend (- for standard input)',
    )
    .option('--forget-ledger', 'discard what is stored about this ledger and accept its current state');
}

/** The options as the client takes them. Throws CommandError (exit code 2) for a file that is not a checkpoint. */
export async function ledgerOptionsOf(
  context: CommandContext,
  { ledgerKey, ledgerCheckpoint: file, forgetLedger: isReset, ...witnesses }: LedgerCommandOptions,
): Promise<LedgerOptions & { readonly memory: LedgerMemory }> {
  const note = file === undefined ? undefined : new TextDecoder().decode(await readAnswerFile(file, context.stdin));
  if (note !== undefined && !checkpointOfNote(note)) throw usageError(`'${file}' is not a checkpoint of a ledger`);
  const trust = { ledgerKey, ledgerCheckpoint: note, ...witnessPolicyOf(witnesses) };
  return { ...trust, isReset, memory: ledgerFileMemory(context) };
}

function witnessPolicyOf({
  witness,
  witnessesRequired: required,
}: Pick<LedgerCommandOptions, 'witness' | 'witnessesRequired'>): { readonly witnesses?: WitnessPolicyText } {
  if (witness === undefined && required === undefined) return {};
  const witnesses = { keys: witness ?? [], required };
  const policy = readWitnessPolicy(witnesses);
  if ('problem' in policy) throw usageError(`--witness: ${policy.problem}`);
  return { witnesses };
}
