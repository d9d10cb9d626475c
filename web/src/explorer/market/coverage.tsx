// The coverage of a market: domains with known, own, unknown and unmeasured providers.
import type { Market } from '@strata/client';
import { formatNumber, formatShare } from '../../ui/formats.ts';

export function Coverage({ market }: { readonly market: Market }) {
  const segments = [
    ['Provider known', market.attributed_share, 'known'],
    ['Self-hosted', market.self_hosted_share, 'self'],
    ['Provider unknown', market.unknown_share, 'unknown'],
  ] as const;
  return (
    <>
      <div className="market-coverage-bar" aria-hidden="true">
        {segments.map(([name, share, kind]) =>
          share ? <span key={name} className={kind} style={{ flexGrow: share }} /> : null,
        )}
      </div>
      <dl className="market-coverage">
        {segments.map(([name, share, kind]) => (
          <div key={name}>
            <dt>
              <span className={`market-swatch ${kind}`} aria-hidden="true" />
              {name}
            </dt>
            <dd>{formatShare(share)}</dd>
          </div>
        ))}
        <div>
          <dt>
            <span className="market-swatch" aria-hidden="true" />
            Not measured
          </dt>
          <dd>{formatNumber(market.unmeasured)} domains</dd>
        </div>
      </dl>
      <p className="small soft">
        {formatNumber(market.domains)} domains use this category. Market shares refer to the{' '}
        {formatNumber(market.denominator)} domains with a known provider or self-hosting; domains with an unknown or
        unmeasured provider are excluded.
      </p>
    </>
  );
}
