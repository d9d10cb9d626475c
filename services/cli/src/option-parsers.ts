// Options of several commands, and parsers of option values.
import { type NoteVerifier, parseVerifierKey, refusedKey } from '@strata/receipts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from './errors.ts';

/** The options of a command that asks a stack service. */
export const ofService = (command: Command): Command =>
  command
    .addOption(new Option('--base <url>', 'URL of the service').env('STRATA_URL').default('http://127.0.0.1:8787'))
    .addOption(new Option('--key <key>', 'API key').env('STRATA_KEY'));

export const integerBetween = (min: number, max: number) => (text: string) =>
  parsed(text, { min, max, isValid: Number.isInteger, kind: 'an integer' });

export const numberBetween = (min: number, max: number) => (text: string) =>
  parsed(text, { min, max, isValid: () => true, kind: 'a number' });

/** `--days` of the commands that print totals. */
export const days = integerBetween(1, 36_500);

interface Range {
  readonly min: number;
  readonly max: number;
  readonly isValid: (value: number) => boolean;
  readonly kind: string;
}

function parsed(text: string, { min, max, isValid, kind }: Range): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= min && value <= max && isValid(value)) return value;
  throw new InvalidArgumentError(`It must be ${kind} from ${min} to ${max}.`);
}

/** The C2SP verifier key of a signer. Throws CommandError (exit code 2). */
export function verifierKey(text: string): NoteVerifier {
  const verifier = parseVerifierKey(text);
  if (verifier) return verifier;
  throw usageError(refusedKey(text, 'a verifier key of a log or catalog (C2SP: name+id+key)'));
}
