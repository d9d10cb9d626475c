// `--base` and `--key` of a stack service, as commands take them.
import { CommandError } from './output.ts';

/** The address, when it is one of the web without a name or password in it. Throws CommandError (exit code 2) for anything else. */
export function serviceBase(text: string): string {
  refuseCredentials(text, '--key or STRATA_KEY');
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new CommandError(`--base is the URL of a service, such as http://127.0.0.1:8787, not '${text}'`, {
    exitCode: 2,
  });
}

/** The key, or undefined for an empty one, which is none. Throws CommandError (exit code 2) for what no key can be. */
export function serviceKey(key: string | undefined): string | undefined {
  if (!key) return undefined;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new CommandError('the key holds characters that no key has (see --key, STRATA_KEY)', { exitCode: 2 });
}

/** Throws CommandError (exit code 2) for an address that holds a user name or password; the message repeats neither. `key` says where an API key belongs. */
export function refuseCredentials(text: string, key: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // What is no address is repeated by whoever refuses it, and may hold a password as well.
  const isSuspect = /^(?:[a-z][\w+.-]*:)?[/\\]*[^/\\?#]*@/i.test(text);
  if (!isSuspect && !url?.username && !url?.password) return;
  throw new CommandError(
    `the address holds a user name or password; leave both out, and give the API key with ${key}`,
    {
      exitCode: 2,
    },
  );
}
