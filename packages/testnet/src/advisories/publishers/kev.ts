// CISA's catalogue of known exploited vulnerabilities. https://www.cisa.gov/known-exploited-vulnerabilities-catalog
import type { Library } from '../library.ts';
import { type Handler, NOT_FOUND } from './publisher.ts';

export const KEV_PATH = '/sites/default/files/feeds/known_exploited_vulnerabilities.json';

export const REQUIRED_ACTION =
  'Apply mitigations per vendor instructions or discontinue use of the product if mitigations are unavailable.';

/** Agencies have three weeks. */
export function dueDateOf(dateAdded: string): string {
  return new Date(Date.parse(dateAdded) + 21 * 86_400_000).toISOString().slice(0, 10);
}

export function kevHandler(library: Library): Handler {
  return (url) => {
    if (url.pathname !== KEV_PATH) return NOT_FOUND;
    const lastModified = new Date(library.listedAt).toUTCString();
    return {
      status: 200,
      headers: { 'content-type': 'application/json', 'last-modified': lastModified },
      body: JSON.stringify(catalogOf(library), null, 2),
      isTagged: true,
    };
  };
}

function catalogOf(library: Library): unknown {
  const vulnerabilities = library
    .entries()
    .filter(({ facts }) => facts.kev !== undefined && !facts.isRejected && facts.id.startsWith('CVE-'))
    .sort((a, b) => (b.facts.kev ?? '').localeCompare(a.facts.kev ?? '') || a.facts.id.localeCompare(b.facts.id))
    .map(({ facts: { id, affected, title, kev = '', isMalformed, epss = 0 } }) => ({
      ...(isMalformed ? {} : { cveID: id }),
      vendorProject: affected[0]?.vendor ?? '',
      product: affected[0]?.product ?? '',
      vulnerabilityName: `${affected[0]?.product ?? ''} ${title} Vulnerability`,
      dateAdded: isMalformed ? null : kev,
      shortDescription: `${affected[0]?.product ?? ''} contains a vulnerability: ${title}.`,
      requiredAction: REQUIRED_ACTION,
      dueDate: dueDateOf(kev),
      knownRansomwareCampaignUse: epss > 0.944 ? 'Known' : 'Unknown',
      notes: `https://nvd.nist.gov/vuln/detail/${id}`,
      cwes: [],
    }));
  const released = new Date(library.listedAt).toISOString();
  return {
    title: 'CISA Catalog of Known Exploited Vulnerabilities',
    catalogVersion: released.slice(0, 10).replaceAll('-', '.'),
    dateReleased: released,
    count: vulnerabilities.length,
    vulnerabilities,
  };
}
