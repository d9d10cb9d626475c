// Name servers by address, each known once whatever zones name it; those that may not be asked are not in it.
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { createAddressGuard } from '../address-guard.ts';
import { random16 } from '../random.ts';
import type { Upstream } from '../udp-channel.ts';
import { NameServer } from './name-server.ts';

/** What is known of a server weighs well below a kilobyte. */
const MAX_SERVERS = 50_000;
/** An unknown server is taken for a fast one, each a little different, so that all get their turn. */
const FIRST_COST_MS = 20;
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

export interface ServerBookOptions {
  readonly port: number;
  readonly maxInFlight: number;
  /** CIDRs that may be asked although they are private. */
  readonly allowAddresses: readonly string[];
}

export class ServerBook {
  /** Whether this machine has an address that the IPv6 Internet can answer to. */
  readonly hasV6 = hasGlobalV6();
  readonly #servers = new LRUCache<string, NameServer>({ max: MAX_SERVERS });
  readonly #guard: ReturnType<typeof createAddressGuard>;
  readonly #options: ServerBookOptions;

  constructor(options: ServerBookOptions) {
    this.#options = options;
    this.#guard = createAddressGuard(options.allowAddresses);
  }

  /** The servers at those of the addresses that may be asked (SSRF) and that can be reached from here. */
  at(addresses: readonly string[]): NameServer[] {
    return addresses
      .filter((address) => (this.hasV6 || !address.includes(':')) && this.#guard(address).isAllowed)
      .map((address) => this.#of({ address: plainForm(address), port: this.#options.port }));
  }

  /** The servers that the operator named: they may be anywhere. */
  named(upstreams: readonly Upstream[]): NameServer[] {
    return upstreams.map(({ address, port }) => this.#of({ address: plainForm(address), port }));
  }

  #of(upstream: Upstream): NameServer {
    const key = `${upstream.address} ${upstream.port}`;
    let server = this.#servers.get(key);
    if (server === undefined) {
      const head = (random16() / 0x1_0000) * FIRST_COST_MS;
      server = new NameServer(upstream, { maxInFlight: this.#options.maxInFlight, head });
      this.#servers.set(key, server);
    }
    return server;
  }
}

/** As the system writes the address of a sender. */
function plainForm(address: string): string {
  return address.includes(':') ? ipaddr.IPv6.parse(address).toRFC5952String() : address;
}

function hasGlobalV6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ family, internal, address }) => {
      if (family !== 'IPv6' || internal || address.includes('%')) return false;
      return ipaddr.IPv6.parse(address).match(GLOBAL_UNICAST, 3);
    }),
  );
}
