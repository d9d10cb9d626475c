// Host names that a provider gives to rented machines. Mail to such a name goes to the tenant, not to a product of the
// provider.

/** Four consecutive numbers of an IPv4 address: `s132-148-1-2`, `1.2.3.4.clients`. */
const HAS_ADDRESS = /(?:^|[^0-9])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:[-.](?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?:[^0-9]|$)/;
/** A kind of machine with a number or a hexadecimal name: `vps12345`, `vps-0a1b2c3d`, `ec2-3-64`, `dedi12`, `ov-123456`, `ns3012345`. */
const NUMBERED =
  /^(?:(?:vps|vds|vmi|kvm|ec2|ip|dedi|host|cloudserver)-?\d[\d-]*|(?:vps|ov|vm)-[0-9a-f]{6,}|ns\d{5,}|[a-z]{2}\d?-\d{3}-\d{5})(?:-static)?$/;
/** Zones of providers that contain only machines: `clients.your-server.de`, `vs.sakura.ne.jp`. */
const ZONES: ReadonlySet<string> = new Set([
  'vps',
  'vs',
  'static',
  'clients',
  'dynamic',
  'reverse',
  'rev',
  'serverdedicati',
]);

/**
 * Whether a host name is that of a rented machine (after the heuristics of Liu et al., "Who's Got Your Mail?", IMC 2021).
 * For names below a provider's registrable domain only: names of mail products contain words chosen by customers. `host` is
 * lower-case.
 */
export function isMachineName(host: string): boolean {
  return HAS_ADDRESS.test(host) || host.split('.').some((label) => ZONES.has(label) || NUMBERED.test(label));
}
