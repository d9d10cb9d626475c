// The risk of a domain: security and vendor concentration.
import type { RiskFactor } from '@strata/client';
import { Badge, type Tone } from '../../../ui/badge.tsx';
import { Figure, Figures } from '../../../ui/card/card.tsx';
import { formatName, formatNumber, formatShare } from '../../../ui/formats.ts';
import { numberColumn, textColumn } from '../../../ui/table/columns.ts';
import { DataTable } from '../../../ui/table/data-table.tsx';
import { AnswerCard } from '../../answer/answer.tsx';

const TONES: Readonly<Record<string, Tone>> = { low: 'good', medium: 'warn', high: 'bad', critical: 'bad' };

/** The level of a risk score. */
export function RiskLevel({ level }: { readonly level: string | null }) {
  return <Badge tone={TONES[level ?? ''] ?? 'plain'}>{level ?? 'not measured'}</Badge>;
}

export function DomainRisk({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard title="Risk" path="/stack/v1/intelligence/risk/{domain}" input={{ path: { domain } }} lines={8}>
      {({ score, level, security, vendor_concentration, method }) => (
        <>
          <Figures>
            <Score name="Overall" score={score} level={level} />
            <Score name="Security" score={security.score} level={security.level} />
            <Score name="Vendor concentration" score={vendor_concentration.score} level={vendor_concentration.level} />
          </Figures>
          <Factors name="Security" factors={security.factors} />
          <Factors name="Vendor concentration" factors={vendor_concentration.factors} />
          <p className="small soft">{method} 0 is the lowest risk, 100 the highest.</p>
        </>
      )}
    </AnswerCard>
  );
}

function Score(props: { readonly name: string; readonly score: number | null; readonly level: string | null }) {
  return (
    <Figure name={props.name} note={<RiskLevel level={props.level} />}>
      {formatNumber(props.score)}
    </Figure>
  );
}

function Factors({ name, factors }: { readonly name: string; readonly factors: readonly RiskFactor[] }) {
  return (
    <section className="domain-part">
      <h3>{name}</h3>
      <DataTable
        caption={`Factors of ${name.toLowerCase()}`}
        rows={factors}
        keyOf={({ factor }) => factor}
        columns={[
          textColumn<RiskFactor>('Factor', ({ factor }) => factor, formatName),
          numberColumn<RiskFactor>('Risk', ({ risk }) => risk),
          numberColumn<RiskFactor>('Weight', ({ weight }) => weight, formatShare),
          { name: 'Finding', cell: ({ finding }) => finding },
        ]}
      />
    </section>
  );
}
