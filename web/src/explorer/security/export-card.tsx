// The CSV export of the scorecard, one row per domain.
import { useState } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { formatName } from '../../ui/formats.ts';
import { CsvDownload } from '../answer/csv-download.tsx';
import type { Sector } from './standards.ts';

export function ExportCard({ sector }: { readonly sector: Sector | undefined }) {
  const [maxScore, setMaxScore] = useState(100);
  return (
    <Card
      title="Export by domain"
      width="half"
      actions={
        <label className="choice">
          Maximum score
          <input
            type="number"
            min={0}
            max={100}
            value={maxScore}
            onChange={({ target }) => setMaxScore(Math.min(100, Math.max(0, Math.trunc(target.valueAsNumber) || 0)))}
          />
        </label>
      }
    >
      <CsvDownload
        key={`${sector} ${maxScore}`}
        path="/stack/v1/security/export.csv"
        input={{ query: { sector, score_lte: maxScore === 100 ? undefined : maxScore } }}
        name={sector === undefined ? 'security' : `security-${sector}`}
      >
        {sector === undefined ? 'All sectors' : formatName(sector)}: score, grade and all standards, lowest score first,
        up to 1,000 rows. Domains without a score are excluded; empty cells were not measured.
      </CsvDownload>
    </Card>
  );
}
