// A link to an external site, without a referrer and without passing on ranking.
import type { ReactNode } from 'react';
import { safeAddress } from './safe-address.ts';

interface ExternalLinkProps {
  readonly href: string | null | undefined;
  readonly children?: ReactNode;
}

/** Values that are not safe URLs stay text. */
export function ExternalLink({ href, children }: ExternalLinkProps) {
  const url = safeAddress(href ?? '');
  if (url === '') return <>{children}</>;
  return (
    <a href={url} rel="noopener noreferrer nofollow" target="_blank">
      {children}
    </a>
  );
}
