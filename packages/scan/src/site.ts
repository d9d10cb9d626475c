// The web part of a probe: the home page and the files at well-known places, in one visit.
import type { Evidence } from '@strata/detect';
import { type HomePage, noHomePage, visitHomePage } from './home-page.ts';
import { type SiteParts, SiteVisit } from './site-visit.ts';
import { fetchMtaSts, fetchSecurityTxt, noFile } from './well-known.ts';

export interface SiteEvidence extends HomePage {
  readonly files: NonNullable<Evidence['files']>;
}

export function siteSkipped(detail: string): SiteEvidence {
  const file = noFile('skipped', detail);
  return { ...noHomePage(detail), files: { mtaSts: file, securityTxt: file } };
}

export interface SiteOptions {
  /** Whether the domain says that it has an MTA-STS policy. */
  readonly hasMtaSts: Promise<boolean>;
  readonly signal?: AbortSignal;
}

/** Rejects only when `signal` aborts, or `hasMtaSts` rejects. */
export async function visitSite(
  parts: SiteParts,
  domain: string,
  { hasMtaSts, signal }: SiteOptions,
): Promise<SiteEvidence> {
  using visit = new SiteVisit(parts, domain, signal);
  const [[home, securityTxt], mtaSts] = await Promise.all([
    visitHomePage(visit).then(async (home) => [home, await fetchSecurityTxt(visit)] as const),
    hasMtaSts.then((has) => (has ? fetchMtaSts(visit) : noFile('skipped', 'no record says that there is one'))),
  ]);
  return { ...home, files: { mtaSts, securityTxt } };
}
