// Parsers of option values; each throws InvalidArgumentError.
import { InvalidArgumentError } from 'commander';

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
