// Calls of the admin API. The admin key is kept in memory only: a reload of the page forgets it.
import type { CreatedAdminKey, NewAdminKey, UsageReport } from '@strata/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { observable, useObservable } from '../../ui/observable.ts';

export type Usage = UsageReport['data'][number];

const adminKey = observable<string | undefined>(undefined);
export const useAdminKey = (): string | undefined => useObservable(adminKey);

/** Resolves if the service accepts the key; rejects with the text of the refusal. */
export async function logIn(key: string): Promise<void> {
  await call('GET', 'keys?limit=1', undefined, key);
  adminKey.set(key);
}

export const logOut = (): void => adminKey.set(undefined);

/** An answer in JSON. Rejects with an Error whose message is for the user. */
export async function call<Answer>(method: string, path: string, body?: object, key = adminKey.get()): Promise<Answer> {
  const response = await request(method, path, body, key);
  // The answer of this service to its own page.
  return (await response.json()) as Answer;
}

export const usageCsv = async (asked: string): Promise<string> =>
  (await request('GET', `usage.csv?${asked}`, undefined, adminKey.get())).text();

const TIMEOUT_MS = 30_000;

async function request(method: string, path: string, body: object | undefined, key = ''): Promise<Response> {
  // A header cannot hold other characters.
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) throw new Error('This is not an API key.');
  const response = await fetch(`/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : null,
    cache: 'no-store',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new Error('The service cannot be reached: you are offline, or it is not running.', { cause });
  });
  if (response.ok) return response;
  // The key was revoked.
  if (response.status === 401) logOut();
  const refusal = (await response.json().catch(() => undefined)) as { error?: { message?: string } } | undefined;
  throw new Error(refusal?.error?.message ?? `The service answered with status ${response.status}.`);
}

export const createKey = (fields: NewAdminKey): Promise<CreatedAdminKey> => call('POST', 'keys', fields);

/** Reads all that the page shows again, after a change. */
export function useAdminRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['admin'] });
}

/** Reads again when the page is shown again, and after `refetch`. */
export function useAdmin<Answer>(path: string) {
  const key = useAdminKey();
  return useQuery<Answer, Error>({
    queryKey: ['admin', key, path],
    queryFn: () => call<Answer>('GET', path),
    enabled: key !== undefined,
    retry: false,
    gcTime: 0,
  });
}
