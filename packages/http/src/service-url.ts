// The URL of a service, from its listen address.
import { isIPv6 } from 'node:net';

interface ListeningAt {
  readonly host: string;
  readonly port: number;
}

/** The origin for clients on the same machine, such as `http://127.0.0.1:8787` or `http://[::1]:8787`. */
export function urlAt({ host, port }: ListeningAt): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** The origin to publish; undefined if the service listens on all addresses, or on a port chosen at startup. */
export function publicUrlOf({ host, port }: ListeningAt): string | undefined {
  return port === 0 || /^(?:\[?[0:]+\]?|0(?:\.0){0,3})$/.test(host) ? undefined : urlAt({ host, port });
}
