// `--witness` and `--witnesses-required` of the commands that verify: so many of the witnesses named must have cosigned.
import { readWitnessPolicy, type WitnessPolicyText } from '@strata/receipts';
import { type Command, InvalidArgumentError } from 'commander';
import { CommandError } from '../../output.ts';

export interface WitnessOptions {
  readonly witness?: readonly string[];
  readonly witnessesRequired?: number;
}

/** Adds both options to a command. */
export function withWitnesses(command: Command): Command {
  return command
    .option('--witness <key...>', 'C2SP verifier keys of witnesses that must have cosigned the checkpoint')
    .option('--witnesses-required <number>', 'so many of them; all by default', (text) => {
      const count = Number(text);
      if (Number.isInteger(count) && count >= 1) return count;
      throw new InvalidArgumentError('It is a whole number from 1.');
    });
}

/** The policy as the client library takes it; empty without witnesses. Throws CommandError (exit code 2) for one that cannot be used. */
export function witnessPolicyOf({ witness, witnessesRequired: required }: WitnessOptions): {
  readonly witnesses?: WitnessPolicyText;
} {
  if (witness === undefined && required === undefined) return {};
  const witnesses = { keys: witness ?? [], required };
  const policy = readWitnessPolicy(witnesses);
  if ('problem' in policy) throw new CommandError(`--witness: ${policy.problem}`, { exitCode: 2 });
  return { witnesses };
}
