// The facts below the name of a provider.
import { ExternalLink } from '../../ui/external-link.tsx';
import { CategoryLink } from '../market/links.tsx';
import type { ProviderBody } from './use-provider.ts';

export function Facts({
  provider: { owner, website, categories, aliases, provider },
}: {
  readonly provider: ProviderBody;
}) {
  return (
    <span className="provider-facts">
      {website && URL.canParse(website) && (
        <ExternalLink href={website}>{new URL(website).hostname.replace(/^www\./, '')}</ExternalLink>
      )}
      <span>
        {categories.map((category, i) => (
          <span key={category}>
            {i > 0 && ', '}
            <CategoryLink category={category} />
          </span>
        ))}
      </span>
      {owner !== provider && <span>owned by {owner}</span>}
      {aliases.length > 0 && <span>also known as {aliases.join(', ')}</span>}
    </span>
  );
}
