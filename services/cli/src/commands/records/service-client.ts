// The client of commands that ask a stack service, and its refusals as errors of the command.
import { StackClient, StackProblem } from '@strata/client';
import { CommandError, usageError } from '../../errors.ts';
import { checkedKey, stackBase } from '../../service-address.ts';

export interface ServiceOptions {
  readonly base: string;
  readonly key?: string | undefined;
}

export function clientOf({ base, key: given }: ServiceOptions): StackClient {
  const baseUrl = stackBase(base);
  const key = checkedKey(given, '--key or STRATA_KEY');
  if (key === undefined) throw usageError('an API key is required: --key or STRATA_KEY');
  return new StackClient({ baseUrl, key });
}

/** A refusal of the service with its reasons: exit code 2 for input that it cannot use. Other errors are returned unchanged. */
export function refusalOf(cause: unknown, after = ''): unknown {
  if (!(cause instanceof StackProblem)) return cause;
  const reasons = cause.errors.map(({ message }) => message).join('; ');
  const message = `${cause.detail}${reasons === '' ? '' : ` ${reasons}`}${after}`;
  const isUsage = cause.code === 'invalid_parameter' || cause.code === 'invalid_domain';
  return new CommandError(message, { exitCode: isUsage ? 2 : 1, cause });
}
