// The line under a provider's name.
import { Link } from '@tanstack/react-router';
import { formatName } from '../../ui/formats.ts';
import { OutsideLink } from '../../ui/outside-link.tsx';
import type { ProviderBody } from './use-provider.ts';

export function Facts({
  provider: { owner, website, categories, aliases, provider },
}: {
  readonly provider: ProviderBody;
}) {
  return (
    <span className="provider-facts">
      {website && URL.canParse(website) && (
        <OutsideLink href={website}>{new URL(website).hostname.replace(/^www\./, '')}</OutsideLink>
      )}
      <span>
        {categories.map((category, i) => (
          <span key={category}>
            {i > 0 && ', '}
            <Link to="/market" search={{ category }}>
              {formatName(category)}
            </Link>
          </span>
        ))}
      </span>
      {owner !== provider && <span>owned by {owner}</span>}
      {aliases.length > 0 && <span>also {aliases.join(', ')}</span>}
    </span>
  );
}
