// `--base` and `--key` of a stack service, as commands take them.
import { CommandError } from './output.ts';

/** The address, when it is one of the web. Throws CommandError (exit code 2) for anything else. */
export function serviceBase(text: string): string {
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
