// `--base` and `--key` of a gateway, as its commands take them.
import { CommandError } from './output.ts';
import { refuseCredentials } from './service-address.ts';

/** The address without `/v1` and slashes at its end. Throws CommandError for what is no address, or holds a password. */
export function gatewayBase(text: string): string {
  refuseCredentials(text, '--key or STRATA_INFERENCE_KEY');
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new CommandError(`--base is the URL of a gateway, such as http://127.0.0.1:8788, not '${text}'`, {
      exitCode: 2,
    });
  return text.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** The header that a key goes in. Throws CommandError for what no key can be. */
export function bearer(key: string): string {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new CommandError('the key holds characters that no key has', { exitCode: 2 });
  return `Bearer ${key}`;
}
