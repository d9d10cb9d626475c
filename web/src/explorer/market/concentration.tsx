// The concentration of a market: the HHI with its band, and its position on the scale.
import type { Market } from '@strata/client';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber, formatShare } from '../../ui/formats.ts';

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
    <div className="market-concentration">
      <p className="market-verdict">
        <Badge tone={tone}>{name}</Badge> <span>{meaning}</span>
      </p>
      <Figures>
        <Figure name="HHI by brand" note="0 to 10,000">
          {formatNumber(rounded(hhi))}
        </Figure>
        <Figure name="HHI by owner" note="brands of one owner combined">
          {formatNumber(rounded(hhi_by_owner))}
        </Figure>
        <Figure name="CR4" note="combined share of the four largest providers">
          {formatShare(cr4)}
        </Figure>
        <Figure name="Effective providers" note={`10,000 / HHI; ${formatNumber(total)} actual providers`}>
          {effective_providers === null ? '–' : effective_providers.toFixed(1)}
        </Figure>
      </Figures>
      {hhi !== null && <Scale hhi={hhi} />}
      <p className="small soft">
        The Herfindahl–Hirschman index (HHI) is the sum of the squared market shares in percent; 10,000 is a monopoly. A
        market below 1,000 is unconcentrated, above 1,800 highly concentrated.
      </p>
    </div>
  );
}

const rounded = (value: number | null) => (value === null ? null : Math.round(value));

/** Position on the scale. The square root widens the low end, where the bands are. */
const positionOf = (hhi: number) => `${Math.sqrt(hhi / 10_000) * 100}%`;

function Scale({ hhi }: { readonly hhi: number }) {
  return (
    <div className="market-scale" aria-hidden="true">
      <div className="market-scale-bar">
        <span className="market-scale-mark" style={{ left: positionOf(hhi) }} />
      </div>
      {[1_000, 1_800].map((bound) => (
        <span key={bound} className="market-scale-bound" style={{ left: positionOf(bound) }}>
          {formatNumber(bound)}
        </span>
      ))}
      <span className="market-scale-bound" style={{ left: 0 }}>
        0
      </span>
      <span className="market-scale-bound end">10,000</span>
    </div>
  );
}
