// Names that only some network knows, or none: no company stands behind them, and a resolver of the inside may know them well.

/** By their last label. Not among them: `test` and `example`, which lead nowhere and are what tests and simulations use. */
const PRIVATE_SUFFIXES: ReadonlySet<string> = new Set([
  // Special-use names: RFC 6761, 6762, 7686 and 9476.
  'localhost',
  'invalid',
  'local',
  'onion',
  'alt',
  // Addresses and the machinery of the DNS (RFC 3172), `home.arpa` of RFC 8375 included.
  'arpa',
  // Kept for private networks by ICANN in 2024.
  'internal',
  // Never to be delegated (ICANN, 2018), since networks use them.
  'corp',
  'home',
  'mail',
  // What else networks use (RFC 6762, appendix G), and what resolvers of theirs add.
  'intranet',
  'lan',
  'private',
  'localdomain',
]);

/** Whether a clean lower-case host belongs to some private network, or to nobody. */
export function isPrivateName(host: string): boolean {
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return PRIVATE_SUFFIXES.has(name.slice(name.lastIndexOf('.') + 1));
}
