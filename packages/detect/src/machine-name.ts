// Names that a host gives to rented machines. Mail that goes there goes to whoever rents it, not to a product of the host.

/** Four numbers of an IPv4 address in a row: `s132-148-1-2`, `1.2.3.4.clients`. */
const HAS_ADDRESS = /(?:^|[^0-9])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:[-.](?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?:[^0-9]|$)/;
/** A label that says so, alone, with a number, or before a hyphen: `vps12345`, `vps-0a1b2c3d`, `ec2-…`, `static`, `clients`. */
const SAYS_MACHINE = /^(?:vps|vds|vmi|kvm|ec2|ip|dedi|dedicated|static|clients|dynamic|rev|reverse)(?:\d+|-.*)?$/;

/**
 * Whether a host name is that of a rented machine (after the heuristics of Liu et al., "Who's Got Your Mail?", IMC 2021). `host` is lower-case.
 */
export function isMachineName(host: string): boolean {
  return HAS_ADDRESS.test(host) || host.split('.').some((label) => SAYS_MACHINE.test(label));
}
