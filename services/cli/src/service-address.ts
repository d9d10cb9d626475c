// `--base` and `--key` of both services. Everything here throws CommandError (exit code 2) for what cannot be used.
import { usageError } from './errors.ts';

/** The URL of a stack service. */
export const stackBase = (text: string): string =>
  checkedBase(text, { service: 'the stack service', port: 8787, key: '--key or STRATA_KEY' });

/** The URL of a gateway, without `/v1` and slashes at its end. */
export const gatewayBase = (text: string): string =>
  checkedBase(text, { service: 'a gateway', port: 8788, key: '--key or STRATA_INFERENCE_KEY' })
    .replace(/\/+$/, '')
    .replace(/\/v1$/, '');

interface Base {
  readonly service: string;
  readonly port: number;
  readonly key: string;
}

function checkedBase(text: string, { service, port, key }: Base): string {
  refuseCredentials(text, key);
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw usageError(`--base is the URL of ${service}, such as http://127.0.0.1:${port}, not '${text}'`);
}

/** Refuses a URL with a user name or password; the message repeats neither. `key` says where an API key belongs. */
export function refuseCredentials(text: string, key: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The message about a text that is not a URL repeats it, and the text may hold a password too.
  const isSuspect = /^(?:[a-z][\w+.-]*:)?[/\\]*[^/\\?#]*@/i.test(text);
  if (!isSuspect && !url?.username && !url?.password) return;
  throw usageError(`the URL contains a user name or password; remove it, and pass the API key with ${key}`);
}

/** The key, or undefined for an empty one. `names` are the option and the variable that it comes from. */
export function checkedKey(key: string | undefined, names: string): string | undefined {
  if (!key) return undefined;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw usageError(`the API key contains characters that are not allowed in a key (${names})`);
}

/** Whether a host is reachable from this machine only. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
