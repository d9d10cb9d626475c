// Which addresses a probe may connect to: global unicast only, unless the operator lists a range (SSRF).
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Verdict = { readonly isAllowed: true } | { readonly isAllowed: false; readonly reason: string };

/** In a public range, but the control address of a cloud provider. */
const METADATA = new Set(['168.63.129.16']);
/** RFC 4291 §2.5.4: all assigned addresses are in 2000::/3. Outside it are IPv4-compatible forms such as ::127.0.0.1. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse('2000::');

/**
 * Creates the check that every address passes before it is dialled. `allow` lists private CIDRs (or single addresses) that are
 * permitted; throws if one is invalid.
 */
export function createAddressGuard(allow: readonly string[] = []): (address: string) => Verdict {
  const ranges = allow.map(parseRange);
  return (address) => {
    // Rejects forms that only some stacks read as addresses (`127.1`, `0x7f.1`), and zones (`fe80::1%eth0`).
    if (isIP(address) === 0 || address.includes('%')) return { isAllowed: false, reason: 'not an IP address' };
    const parsed = ipaddr.parse(address);
    if (ranges.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits)))
      return { isAllowed: true };
    // Only plain unicast is permitted: not private, loopback, link-local, CGNAT, multicast or reserved ranges, nor the IPv6 forms
    // that embed an IPv4 address (mapped, NAT64, 6to4, Teredo), which could be private.
    const range = parsed.range();
    if (range !== 'unicast') return { isAllowed: false, reason: `${address} is a ${range} address` };
    if (parsed.kind() === 'ipv6' && !parsed.match(GLOBAL_UNICAST, 3))
      return { isAllowed: false, reason: `${address} is outside the global unicast space` };
    if (parsed.kind() === 'ipv6' && isIsatap(parsed as ipaddr.IPv6))
      return { isAllowed: false, reason: `${address} wraps an IPv4 address (ISATAP)` };
    if (METADATA.has(address)) return { isAllowed: false, reason: `${address} is a metadata service` };
    return { isAllowed: true };
  };
}

/** RFC 5214 §6.1: with any prefix, the interface identifier is `::5efe:` or `::200:5efe:` and an IPv4 address. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}

function parseRange(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const single = ipaddr.parse(text);
    return [single, single.kind() === 'ipv6' ? 128 : 32];
  } catch (cause) {
    throw new Error(`'${text}' is not an address range such as 10.0.0.0/8`, { cause });
  }
}
