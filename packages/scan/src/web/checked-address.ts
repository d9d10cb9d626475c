// The address to dial for a host, looked up and checked at once, so that no later answer can replace it (DNS rebinding).
import { isIP } from 'node:net';
import type { Lookup } from '@strata/detect';
import type { Ask } from '../dns/ask.ts';
import type { Verdict } from './address-guard.ts';

export interface AddressDeps {
  readonly guard: (address: string) => Verdict;
  readonly addressesOf: (host: string, signal: AbortSignal | undefined) => Promise<Lookup<string>>;
}

export type CheckedAddress =
  | { readonly kind: 'allowed'; readonly address: string }
  | {
      readonly kind: 'failed';
      /** `forbidden`: no address of the host is permitted; `unresolved`: it has no address. */
      readonly reason: 'unresolved' | 'forbidden' | 'timeout' | 'failed';
      readonly detail: string;
    };

/** `host` is a name or a literal address. Rejects only when `signal` aborts. */
export async function checkAddress(
  { guard, addressesOf }: AddressDeps,
  host: string,
  signal: AbortSignal | undefined,
): Promise<CheckedAddress> {
  const { status, records } = isIP(host)
    ? ({ status: 'found', records: [host] } as const)
    : await addressesOf(host, signal);
  const [first] = records;
  if (first === undefined) {
    if (status === 'empty' || status === 'nxdomain' || status === 'skipped')
      return { kind: 'failed', reason: 'unresolved', detail: 'the name has no address' };
    const detail = `the address could not be looked up: ${status}`;
    return { kind: 'failed', reason: status === 'timeout' ? 'timeout' : 'failed', detail };
  }
  const allowed = records.find((address) => guard(address).isAllowed);
  if (allowed !== undefined) return { kind: 'allowed', address: allowed };
  const verdict = guard(first);
  return { kind: 'failed', reason: 'forbidden', detail: `not dialled: ${verdict.isAllowed ? first : verdict.reason}` };
}

/** The IPv4 addresses of a host, or its IPv6 addresses if there are no IPv4 addresses. */
export async function addressesOf(ask: Ask, host: string): Promise<Lookup<string>> {
  const v4 = await ask(host, 'A');
  return v4.status === 'empty' ? ask(host, 'AAAA') : v4;
}
