// Names of private networks and names that do not exist in the DNS. No company owns them, but an internal resolver may
// answer for them.

/** By last label. Not included: `test` and `example`, which resolve nowhere and are used by tests and simulations. */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set([
  // Special-use names: RFC 6761, 6762, 7686 and 9476.
  'localhost',
  'invalid',
  'local',
  'onion',
  'alt',
  // Addresses and infrastructure of the DNS (RFC 3172), including `home.arpa` of RFC 8375.
  'arpa',
  // Reserved for private networks by ICANN in 2024.
  'internal',
  // Never to be delegated (ICANN, 2018), because private networks use them.
  'corp',
  'home',
  'mail',
  // Other suffixes in use (RFC 6762, appendix G), and those that internal resolvers add.
  'intranet',
  'lan',
  'private',
  'localdomain',
]);

/** Whether a clean lower-case host belongs to a private network or does not exist. */
export function isPrivateName(host: string): boolean {
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return PRIVATE_SUFFIXES.has(name.slice(name.lastIndexOf('.') + 1));
}
