// A link to somebody else's site, which neither learns where the reader came from nor gains by it.
import type { ReactNode } from 'react';

/** Only the web is linked to: any other address stays text. */
export function OutsideLink({ href, children }: { readonly href: string | null; readonly children: ReactNode }) {
  const url = href !== null && URL.canParse(href) ? new URL(href) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return children;
  return (
    <a href={url.href} rel="noopener noreferrer nofollow" target="_blank">
      {children}
    </a>
  );
}
