// How concentrated a market is: the index with its band in words, and where it stands on the scale.
import type { Market } from '@strata/client';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber, formatShare } from '../../ui/formats.ts';

interface BandWords {
  readonly name: string;
  /** Where there is little room. */
  readonly short: string;
  readonly tone: Tone;
  readonly meaning: string;
}

const BANDS: Readonly<Record<Market['band'], BandWords>> = {
  unconcentrated: { name: 'unconcentrated', short: 'low', tone: 'good', meaning: 'Many providers share this market.' },
  moderate: {
    name: 'moderately concentrated',
    short: 'moderate',
    tone: 'warn',
    meaning: 'A few providers hold much of this market.',
  },
  high: {
    name: 'highly concentrated',
    short: 'high',
    tone: 'bad',
    meaning: 'Very few providers hold most of this market.',
  },
  insufficient_data: {
    name: 'too few data',
    short: 'too few data',
    tone: 'plain',
    meaning:
      'Fewer than 200 domains, or less than half of them with a known provider: the index is shown, but it is not judged.',
  },
};

/** The words of a band, known or new. */
export function bandWords(band: string): BandWords {
  return BANDS[band as Market['band']] ?? BANDS.insufficient_data;
}

export function Concentration({ market }: { readonly market: Market }) {
  const { hhi, hhi_by_owner, band, cr4, effective_providers, total } = market;
  const words = bandWords(band);
  return (
    <div className="market-concentration">
      <p className="market-verdict">
        <Badge tone={words.tone}>{words.name}</Badge> <span>{words.meaning}</span>
      </p>
      <Figures>
        <Figure name="HHI, by brand" note="0 to 10,000">
          {formatNumber(rounded(hhi))}
        </Figure>
        <Figure name="HHI, by owner" note="brands of one owner together">
          {formatNumber(rounded(hhi_by_owner))}
        </Figure>
        <Figure name="The four largest (CR4)" note="of known providers">
          {formatShare(cr4)}
        </Figure>
        <Figure name="Like so many equal ones" note={`${formatNumber(total)} in fact`}>
          {effective_providers === null ? '–' : effective_providers.toFixed(1)}
        </Figure>
      </Figures>
      {hhi !== null && <Scale hhi={hhi} />}
      <p className="small soft">
        The Herfindahl–Hirschman index is the sum of the squared shares in percent: 10,000 is one provider alone. Below
        1,000 a market counts as unconcentrated, above 1,800 as highly concentrated.
      </p>
    </div>
  );
}

const rounded = (value: number | null) => (value === null ? null : Math.round(value));

/** The root spreads the low end, where the bands are. */
const placeOf = (hhi: number) => `${Math.sqrt(hhi / 10_000) * 100}%`;

function Scale({ hhi }: { readonly hhi: number }) {
  return (
    <div className="market-scale" aria-hidden="true">
      <div className="market-scale-bar">
        <span className="market-scale-mark" style={{ left: placeOf(hhi) }} />
      </div>
      {[1_000, 1_800].map((bound) => (
        <span key={bound} className="market-scale-bound" style={{ left: placeOf(bound) }}>
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
