// `--days` of the commands that sum up.
import { InvalidArgumentError } from 'commander';

/** Throws InvalidArgumentError. */
export function wholeDays(text: string): number {
  const days = Number(text);
  if (!Number.isInteger(days) || days < 1 || days > 36_500)
    throw new InvalidArgumentError('It is a whole number from 1 to 36500.');
  return days;
}
