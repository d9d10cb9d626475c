// The risk of a domain: security and vendor concentration.
import type { RiskFactor } from '@strata/client';
import { Risk } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatName, formatShare } from '../../ui/formats.ts';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';

const COLUMNS: readonly Column<RiskFactor>[] = [
  textColumn('Factor', ({ factor }) => factor, formatName),
  numberColumn('Risk', ({ risk }) => risk),
  numberColumn('Weight', ({ weight }) => weight, formatShare),
  { name: 'Finding', cell: ({ finding }) => finding },
];

export function DomainRisk({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard title="Risk" path="/stack/v1/intelligence/risk/{domain}" input={{ path: { domain } }}>
      {({ score, level, security, vendor_concentration: concentration, method }) => (
        <>
          <Figures>
            <Figure name="Overall" value={score} note={<Risk level={level} />} />
            <Figure name="Security" value={security.score} note={<Risk level={security.level} />} />
            <Figure
              name="Vendor concentration"
              value={concentration.score}
              note={<Risk level={concentration.level} />}
            />
          </Figures>
          <Factors name="Security" factors={security.factors} />
          <Factors name="Vendor concentration" factors={concentration.factors} />
          <p className="small soft">{method} 0 is the lowest risk, 100 the highest.</p>
        </>
      )}
    </AnswerCard>
  );
}

function Factors({ name, factors }: { readonly name: string; readonly factors: readonly RiskFactor[] }) {
  return (
    <>
      <h3 className="part-head">{name}</h3>
      <DataTable
        caption={`Factors of ${name.toLowerCase()}`}
        rows={factors}
        keyOf={({ factor }) => factor}
        columns={COLUMNS}
      />
    </>
  );
}
