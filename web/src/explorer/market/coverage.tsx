// What is known of a market, and what is not: shares are only of the domains whose provider is known.
import type { Market } from '@strata/client';
import { formatNumber, formatShare } from '../../ui/formats.ts';

export function Coverage({ market }: { readonly market: Market }) {
  const parts = [
    ['Provider known', market.attributed_share, 'known'],
    ['Self-hosted', market.self_hosted_share, 'self'],
    ['Provider unknown', market.unknown_share, 'unknown'],
  ] as const;
  return (
    <>
      <div className="market-coverage-bar" aria-hidden="true">
        {parts.map(([name, share, kind]) =>
          share ? <span key={name} className={kind} style={{ flexGrow: share }} /> : null,
        )}
      </div>
      <dl className="market-coverage">
        {parts.map(([name, share, kind]) => (
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
        {formatNumber(market.domains)} domains have this. Shares of providers are of the{' '}
        {formatNumber(market.denominator)} whose provider is known or that run it themselves; unknown and unmeasured
        ones are in no share.
      </p>
    </>
  );
}
