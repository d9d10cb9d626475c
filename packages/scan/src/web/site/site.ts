// The web part of a probe: home page, security.txt and icon in one visit, and the MTA-STS policy in another.
import type { Evidence } from '@strata/detect';
import { fetchFavicon, noIcon } from './favicon.ts';
import { type HomePage, noHomePage, visitHomePage } from './home-page.ts';
import { type SiteDeps, SiteVisit } from './site-visit.ts';
import { fetchMtaSts, fetchSecurityTxt, noFile } from './well-known.ts';

export interface SiteEvidence extends HomePage {
  readonly files: NonNullable<Evidence['files']>;
}

export function siteSkipped(detail: string): SiteEvidence {
  const file = noFile('skipped', detail);
  return { ...noHomePage(detail), files: { mtaSts: file, securityTxt: file, favicon: noIcon('skipped', detail) } };
}

export interface SiteOptions {
  /** Whether the domain announces an MTA-STS policy. */
  readonly hasMtaSts: Promise<boolean>;
  readonly signal?: AbortSignal;
}

/** Rejects only if `signal` aborts, or `hasMtaSts` rejects. */
export async function visitSite(
  deps: SiteDeps,
  domain: string,
  { hasMtaSts, signal }: SiteOptions,
): Promise<SiteEvidence> {
  using site = new SiteVisit(deps, domain, signal);
  // Another host, visited concurrently with a time limit of its own: a slow one does not reduce the time for the site.
  using mail = new SiteVisit(deps, domain, signal);
  const [[home, securityTxt, favicon], mtaSts] = await Promise.all([
    visitHomePage(site).then(async (home) => {
      const securityTxt = await fetchSecurityTxt(site);
      return [home, securityTxt, await fetchFavicon(site, home.http)] as const;
    }),
    hasMtaSts.then((has) => (has ? fetchMtaSts(mail) : noFile('skipped', 'no record announces a policy'))),
  ]);
  return { ...home, files: { mtaSts, securityTxt, favicon } };
}
