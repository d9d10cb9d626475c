// A link to an external site, without a referrer and without passing on ranking.
import type { ReactNode } from 'react';

/** Only http(s) URLs become links; other values stay text. */
export function ExternalLink({ href, children }: { readonly href: string | null; readonly children: ReactNode }) {
  const url = href !== null && URL.canParse(href) ? new URL(href) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return children;
  return (
    <a href={url.href} rel="noopener noreferrer nofollow" target="_blank">
      {children}
    </a>
  );
}
