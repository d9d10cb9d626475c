// The client of commands that ask a stack service, and its refusals as errors of the command.
import { StackClient, StackProblem } from '@strata/client';
import { CommandError, usageError } from '../../errors.ts';
import { checkedKey, stackBase } from '../../service-address.ts';

export interface ServiceOptions {
  readonly base: string;
  readonly key?: string | undefined;
}

/** The address of the service, and the key. Throws CommandError without a key. */
export function serviceOf({ base, key: given }: ServiceOptions): { readonly baseUrl: string; readonly key: string } {
  const baseUrl = stackBase(base);
  const key = checkedKey(given, '--key or STRATA_KEY');
  if (key === undefined) throw usageError('an API key is required: --key or STRATA_KEY');
  return { baseUrl, key };
}

export const clientOf = (options: ServiceOptions): StackClient => new StackClient(serviceOf(options));

/** Throws a problem of the service as an error of the command, with exit code 2 for a parameter that it refuses; another error as it is. */
export function refused(cause: unknown): never {
  if (!(cause instanceof StackProblem)) throw cause;
  const messages = cause.errors.map(({ message }) => message);
  const reasons = messages.filter((message) => !cause.detail.includes(message)).join('; ');
  const message = reasons === '' ? cause.detail : `${cause.detail.replace(/\.$/, '')}: ${reasons}`;
  throw new CommandError(message, { exitCode: cause.code === 'invalid_parameter' ? 2 : 1, cause });
}
