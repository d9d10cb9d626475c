// DMARC queries in addition to the domain's own record: policies of parent domains, and consent of external report receivers.
import { dmarcReportHosts, type Lookup, registrableDomain } from '@strata/detect';
import type { Ask } from '../dns/ask.ts';

/** RFC 9989, tree walk: at most eight queries, and the first was for the domain itself. */
const MAX_PARENTS = 7;
const MAX_REPORT_HOSTS = 8;

type Lookups = Readonly<Record<string, Lookup<string>>>;

/** TXT of `_dmarc` for each parent of the domain, up to the top-level domain. Siblings share the cached answers. */
export async function askDmarcParents(domain: string, ask: Ask): Promise<Lookups> {
  const labels = domain.split('.');
  const parents = labels.slice(1).map((_, i) => labels.slice(i + 1).join('.'));
  return byName(parents.slice(-MAX_PARENTS), (parent) => ask(`_dmarc.${parent}`, 'TXT'));
}

/** RFC 9990, verifying external destinations: whether hosts of other owners accept this domain's reports. */
export async function askReportConsents(domain: string, records: readonly string[], ask: Ask): Promise<Lookups> {
  const hosts = dmarcReportHosts(records).filter((host) => registrableDomain(host) !== domain);
  return byName(hosts.slice(0, MAX_REPORT_HOSTS), (host) => ask(`${domain}._report._dmarc.${host}`, 'TXT'));
}

async function byName(names: readonly string[], ask: (name: string) => Promise<Lookup<string>>): Promise<Lookups> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await ask(name)] as const)));
}
