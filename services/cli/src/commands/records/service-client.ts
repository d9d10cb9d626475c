// The client of commands that ask a stack service, and its refusals as errors of the command.
import { StackClient, StackProblem } from '@strata/client';
import { usageError } from '../../errors.ts';
import { checkedKey, stackBase } from '../../service-address.ts';
import { problemError } from '../stack/export.ts';

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

/** A refusal of the service as an error of the command; another error unchanged. */
export const refusalOf = (cause: unknown): unknown => (cause instanceof StackProblem ? problemError(cause) : cause);
