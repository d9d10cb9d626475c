// The concentration of a market: the HHI with its band, and its position on the scale; and its coverage.
import type { Market } from '@strata/client';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatDecimal, formatNumber, formatRounded, formatShare } from '../../ui/formats.ts';

interface Band {
  readonly name: string;
  /** For tables. */
  readonly short: string;
  readonly tone: Tone;
  readonly meaning: string;
}

const BANDS: Readonly<Record<Market['band'], Band>> = {
  unconcentrated: {
    name: 'unconcentrated',
    short: 'low',
    tone: 'good',
    meaning: 'The market is shared by many providers.',
  },
  moderate: {
    name: 'moderately concentrated',
    short: 'moderate',
    tone: 'warn',
    meaning: 'A few providers have a large share of the market.',
  },
  high: {
    name: 'highly concentrated',
    short: 'high',
    tone: 'bad',
    meaning: 'Very few providers have most of the market.',
  },
  insufficient_data: {
    name: 'insufficient data',
    short: 'insufficient data',
    tone: 'plain',
    meaning: 'Fewer than 200 domains, or less than half of them with a known provider: the index is not rated.',
  },
};

/** The label of a band; `insufficient_data` for an unknown band. */
export function bandOf(band: string): Band {
  return BANDS[band as Market['band']] ?? BANDS.insufficient_data;
}

export function Concentration({ market }: { readonly market: Market }) {
  const { hhi, hhi_by_owner, band, cr4, effective_providers, total } = market;
  const { name, tone, meaning } = bandOf(band);
  return (
    <>
      <p className="note">
        <Badge tone={tone}>{name}</Badge> <span>{meaning}</span>
      </p>
      <Figures>
        <Figure name="HHI by brand" value={formatRounded(hhi)} note="0 to 10,000" />
        <Figure name="HHI by owner" value={formatRounded(hhi_by_owner)} note="brands of one owner combined" />
        <Figure name="CR4" value={formatShare(cr4)} note="combined share of the four largest providers" />
        <Figure
          name="Effective providers"
          value={formatDecimal(effective_providers)}
          note={`10,000 / HHI; ${formatNumber(total)} actual providers`}
        />
      </Figures>
      {hhi !== null && <Scale hhi={hhi} />}
      <p className="small soft">
        The Herfindahl–Hirschman index (HHI) is the sum of the squared market shares in percent; 10,000 is a monopoly. A
        market below 1,000 is unconcentrated, above 1,800 highly concentrated.
      </p>
    </>
  );
}

/** Position on the scale. The square root widens the low end, where the bands are. */
const positionOf = (hhi: number) => `${Math.sqrt(hhi / 10_000) * 100}%`;

/** Bounds of the bands, and the shift of each label: the bounds in the middle are close to each other. */
const BOUNDS = [
  [0, '0'],
  [1_000, '-80%'],
  [1_800, '-20%'],
  [10_000, '-100%'],
] as const;

function Scale({ hhi }: { readonly hhi: number }) {
  return (
    <div className="market-scale" aria-hidden="true">
      <div className="market-scale-bar">
        <span className="market-scale-mark" style={{ left: positionOf(hhi) }} />
      </div>
      {BOUNDS.map(([bound, shift]) => (
        <span key={bound} className="market-scale-bound" style={{ left: positionOf(bound), translate: shift }}>
          {formatNumber(bound)}
        </span>
      ))}
    </div>
  );
}

/** Domains with known, own, unknown and unmeasured providers. */
export function Coverage({ market }: { readonly market: Market }) {
  const segments = [
    ['Provider known', market.attributed_share, 'known'],
    ['Self-hosted', market.self_hosted_share, 'self'],
    ['Provider unknown', market.unknown_share, 'unknown'],
  ] as const;
  return (
    <>
      <div className="market-coverage" aria-hidden="true">
        {segments.map(([name, share, kind]) =>
          share ? <span key={name} className={kind} style={{ flexGrow: share }} /> : null,
        )}
      </div>
      <Figures>
        {segments.map(([name, share, kind]) => (
          <Figure key={name} name={name}>
            <span className={`market-swatch ${kind}`} aria-hidden="true" />
            {formatShare(share)}
          </Figure>
        ))}
        <Figure name="Not measured" value={market.unmeasured} note="domains" />
      </Figures>
      <p className="small soft note">
        {formatNumber(market.domains)} domains are in this market. Market shares refer to the{' '}
        {formatNumber(market.denominator)} domains with a known provider or self-hosting; domains with an unknown or
        unmeasured provider are excluded.
      </p>
    </>
  );
}
