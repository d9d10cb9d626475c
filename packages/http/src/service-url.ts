// Where a service that listens somewhere is asked: by whoever is on this machine, and by readers.
import { isIPv6 } from 'node:net';

export interface ListeningAt {
  readonly host: string;
  readonly port: number;
}

/** The origin of what listens there, such as `http://127.0.0.1:8787` or `http://[::1]:8787`. */
export function urlAt({ host, port }: ListeningAt): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** The same, to be named to readers; undefined where the service listens on all addresses, or on a port that is chosen when it starts. */
export function openedAt({ host, port }: ListeningAt): string | undefined {
  return port === 0 || /^(?:\[?[0:]+\]?|0(?:\.0){0,3})$/.test(host) ? undefined : urlAt({ host, port });
}
