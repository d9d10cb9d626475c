// A way to somebody else's site, whose address may come from anybody.
import type { ReactNode } from 'react';

/** Only http(s) becomes a link; anything else stays text. The site is told neither that nor where it is linked from. */
export function OutsideLink({ address, children }: { readonly address: string; readonly children?: ReactNode }) {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return <span className="outside">{children ?? address}</span>;
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" className="outside">
      {children ?? address}
      <span aria-hidden="true"> ↗</span>
      <span className="hidden-text"> (another site, new tab)</span>
    </a>
  );
}
